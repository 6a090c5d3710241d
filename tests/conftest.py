"""Settings of the whole suite: how many cases hypothesis generates, by HYPOTHESIS_PROFILE."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

# Two workers with two torch threads each would wait for each other on two cores.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# A shared machine makes single cases slow at random: no deadline, and no failure for slow generation.
_calm = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("default", **_calm)
settings.register_profile("nightly", max_examples=5000, **_calm)
settings.register_profile("sanitize", max_examples=40, **_calm)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))
