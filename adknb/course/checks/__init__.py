"""The checks of the lessons' exercises, one module to a lesson: each runs the reader's function on unseen inputs."""
