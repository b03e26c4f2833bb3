"""The engine: ADK-Go v2.4.0's Flow in Python. One turn is one generator of Events and Stops.

Reading order, with the seed in hand:

    event, session      what is recorded, and what appending means            二.3
    model, tool         what is asked, what can be asked for                  二.1  四.1.2
    stops               how a run pauses: read this before anything that says `yield from`
    flow                the two loops                                         三.1 三.2
    processors          thirteen stages that build a request                  四.1
    processors/contents from events to contents, pass by pass                 四.2
    model_call          the model and its callbacks                           四.3
    function_calls      the tools and theirs, and the merge                   四.5
    runner              who runs a turn, and where events are stored          三
    delegation, coordinator, compaction, streaming, workflow_agents           四.6 to 四.8

It knows nothing of notebooks, of readers' commands, or of files.
"""
