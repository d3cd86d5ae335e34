"""How a run is recorded: used by launcher/launch.py and plugins/callback/muster_events.py."""
