"""The only room that changes a node. Nobody but `cli` imports it.

planning/   from a verdict, a finding or a name to a plan, which changes nothing
node/       the doors through which the node is read and changed
steps, carry_out, take_back, resume, journal, state_folder: how a plan is carried out so that it can be stopped anywhere
"""
