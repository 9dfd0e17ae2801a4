package io.journalq.sim;

import java.util.List;

/**
 * What came of one seed.
 *
 * @param hash of everything that happened
 * @param events how much happened
 * @param crashes how often the broker was killed or lost power
 * @param records acknowledged or read
 * @param violations broken promises; none when all is well
 */
public record SimResult(long seed, long hash, long events, int crashes, long records, List<String> violations) {
    public boolean isSound() {
        return violations.isEmpty();
    }
}
