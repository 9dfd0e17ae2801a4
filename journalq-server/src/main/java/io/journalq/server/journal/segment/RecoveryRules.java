package io.journalq.server.journal.segment;

/**
 * How recovery tells damage from what other replicas have. Immutable.
 *
 * @param endsAtDamage whether the log ends at the first damage after a power loss, because other replicas have the
 *     batches behind it. Otherwise, those are kept if the damage can be a flipped bit
 * @param mayEndBehindGap whether also the newest batches may lie behind gaps, because they were copied from a log that
 *     is compacted. Otherwise, the offset of the last batch of all is damaged then
 */
public record RecoveryRules(boolean endsAtDamage, boolean mayEndBehindGap) {
    /** For a log that has no other replica. */
    public static final RecoveryRules ALONE = new RecoveryRules(false, false);
}
