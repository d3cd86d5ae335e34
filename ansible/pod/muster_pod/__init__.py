"""What runs inside the containers of a session's pod."""
