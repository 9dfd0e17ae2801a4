package io.journalq.server.security;

import io.journalq.server.metadata.ClientQuotas;
import io.journalq.server.metadata.ClientQuotas.Applied;
import io.journalq.server.metadata.QuotaEntity;
import io.journalq.server.metadata.QuotaEntity.Part;
import io.journalq.server.metadata.QuotaKeys;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * Holds clients to their quotas: counts what they use, and says how long one that used too much has to wait. Any thread.
 *
 * <p>For every limit and client there is one number: the moment at which all that was used so far would be used up at
 * exactly the allowed rate (a "virtual scheduling" leaky bucket). A client may be {@link #BURST_NANOS} ahead of it.
 */
public final class ClientThrottles {
    /** The longest that a client is held back at a time; what it still owes counts next time. */
    static final int MAX_WAIT_MS = 30_000;

    /** What a client may use at once after it used nothing for as long. */
    private static final long BURST_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** Clients that are counted; at it those that owe nothing are forgotten, which changes nothing for them. */
    static final int MAX_COUNTED = 10_000;

    /** Of a client's name; longer ones that begin alike are counted as one. */
    private static final int MAX_NAME_LENGTH = 256;

    /** Who comes when everybody who is counted owes something: all of them together. */
    private static final QuotaEntity OTHERS = new QuotaEntity(new Part(null), new Part(null));

    private static final double NANOS_PER_SECOND = 1e9;
    private static final double PERCENT = 100;

    private final Supplier<ClientQuotas> quotas;
    private final LongSupplier nanoTime;
    private final Map<Counted, AtomicLong> usedUpNanos = new ConcurrentHashMap<>();

    private record Counted(String key, QuotaEntity client) {}

    /**
     * Nobody is counted yet.
     *
     * @param quotas the newest limits
     * @param nanoTime a clock that never goes back, {@link System#nanoTime()} but in tests
     */
    public ClientThrottles(Supplier<ClientQuotas> quotas, LongSupplier nanoTime) {
        this.quotas = quotas;
        this.nanoTime = nanoTime;
    }

    /** Whether anybody is limited: if not, nothing needs to be counted. */
    public boolean isActive() {
        return !quotas.get().isEmpty();
    }

    /**
     * Counts bytes.
     *
     * @param key {@link QuotaKeys#PRODUCE_BYTES} or {@link QuotaKeys#FETCH_BYTES}
     * @return how long the client has to wait until its next request, in ms; 0 for not at all
     */
    public int useBytes(String key, Principal principal, String clientId, long bytes) {
        return use(key, principal, clientId, (double) bytes);
    }

    /** Counts time of a loop, in ns. Returns how long the client has to wait, as {@link #useBytes}. */
    public int useLoopTime(Principal principal, String clientId, long nanos) {
        return use(QuotaKeys.REQUEST_PERCENTAGE, principal, clientId, nanos / NANOS_PER_SECOND * PERCENT);
    }

    private int use(String key, Principal principal, String clientId, double amount) {
        String name = clientId == null ? "" : clientId;
        if (name.length() > MAX_NAME_LENGTH) {
            name = name.substring(0, MAX_NAME_LENGTH);
        }
        Applied applied = quotas.get().find(key, principal.name(), name);
        if (applied == null) {
            return 0;
        }
        long now = nanoTime.getAsLong();
        long cost = (long) (amount / applied.limit() * NANOS_PER_SECOND);
        Counted client = new Counted(key, applied.countedFor());
        if (usedUpNanos.size() >= MAX_COUNTED && !usedUpNanos.containsKey(client)) {
            usedUpNanos.values().removeIf(other -> other.get() - now <= -BURST_NANOS);
            client = usedUpNanos.size() < MAX_COUNTED ? client : new Counted(key, OTHERS);
        }
        AtomicLong usedUp = usedUpNanos.computeIfAbsent(client, counted -> new AtomicLong(now - BURST_NANOS));
        long until = usedUp.updateAndGet(before -> Math.max(before - now, -BURST_NANOS) + now + cost);
        return (int) Math.min(MAX_WAIT_MS, Math.max(0, TimeUnit.NANOSECONDS.toMillis(until - now)));
    }
}
