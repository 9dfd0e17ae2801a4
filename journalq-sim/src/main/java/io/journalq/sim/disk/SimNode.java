package io.journalq.sim.disk;

import java.util.Random;

/** A file or a directory. */
abstract class SimNode {
    /** Loses what was not synced, or some of it. */
    abstract void losePower(Random random);
}
