"""Synapse as a scheduled job, and as a plugin, of the Hermes agent.

Measured on Hermes 0.19: a job's script has to lie in Hermes' own folder and gets no arguments; a
``.sh`` file runs with bash, anything else with the interpreter of Hermes; ``hermes cron`` ends
with code 0 whether it worked or not. Hence a launcher in that folder, and a look at the list of
jobs after every step.
"""
