package io.journalq.server.security;

import io.journalq.server.metadata.ClientQuotas;
import io.journalq.server.metadata.ClientQuotas.Applied;
import io.journalq.server.metadata.QuotaEntity;
import io.journalq.server.metadata.QuotaEntity.Part;
import io.journalq.server.metadata.QuotaKeys;
import java.net.InetAddress;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * Enforces client quotas: counts usage, and computes how long a client that exceeded a quota has to wait. Any thread.
 *
 * <p>Each limit and client has one number: the time at which all usage so far would be spent at exactly the allowed
 * rate (a leaky bucket by virtual scheduling). This time may be up to {@link #BURST_NANOS} in the future.
 */
public final class ClientThrottles {
    /** Maximum wait at a time. The rest of the debt counts next time. */
    static final int MAX_WAIT_MS = 30_000;

    /** The burst that a client may use at once after it used nothing for this time. */
    private static final long BURST_NANOS = TimeUnit.SECONDS.toNanos(1);

    /**
     * Maximum number of clients that are counted. Beyond it, clients without debt are removed, which does not change
     * their allowance.
     */
    static final int MAX_COUNTED = 10_000;

    /** Maximum length of a client's name. Longer names with the same beginning are counted as one client. */
    private static final int MAX_NAME_LENGTH = 256;

    /** Counts all further clients together when every counted client has a debt. */
    private static final QuotaEntity OTHERS = new QuotaEntity(new Part(null), new Part(null));

    /** Maximum debt of a client, so that sums of debts and times do not overflow. More than 70 years. */
    private static final long MAX_DEBT_NANOS = Long.MAX_VALUE / 4;

    private static final double NANOS_PER_SECOND = 1e9;
    private static final double PERCENT = 100;

    private final Supplier<ClientQuotas> quotas;
    private final LongSupplier nanoTime;
    private final Map<Counted, Usage> usages = new ConcurrentHashMap<>();

    private record Counted(String key, QuotaEntity client) {}

    /**
     * The usage of one client.
     *
     * @param limit the limit by which the time was computed
     * @param usedUpNanos when everything is used up at that rate
     */
    private record Usage(double limit, AtomicLong usedUpNanos) {
        /** The same usage at another rate. A debt is an amount: a higher limit pays it off in less time. */
        Usage at(double newLimit, long now) {
            if (newLimit == limit) {
                return this; // Another thread was first.
            }
            long ahead = usedUpNanos.get() - now;
            long aheadThen = ahead <= 0 ? ahead : Math.min(MAX_DEBT_NANOS, (long) (ahead * (limit / newLimit)));
            return new Usage(newLimit, new AtomicLong(now + aheadThen));
        }
    }

    /**
     * Throttles without any usage yet.
     *
     * @param quotas supplies the newest limits
     * @param nanoTime a monotonic clock, {@link System#nanoTime()} except in tests
     */
    public ClientThrottles(Supplier<ClientQuotas> quotas, LongSupplier nanoTime) {
        this.quotas = quotas;
        this.nanoTime = nanoTime;
    }

    /** Whether any client has a quota. If not, nothing needs to be counted. */
    public boolean isActive() {
        return !quotas.get().isEmpty();
    }

    /**
     * Counts bytes.
     *
     * @param key {@link QuotaKeys#PRODUCE_BYTES} or {@link QuotaKeys#FETCH_BYTES}
     * @return how long the client has to wait before its next request, in ms; 0 if it does not have to wait
     */
    public int useBytes(String key, Principal principal, String clientId, long bytes) {
        return use(key, principal, clientId, (double) bytes);
    }

    /** Counts time on an event loop, in ns. Returns how long the client has to wait, like {@link #useBytes}. */
    public int useLoopTime(Principal principal, String clientId, long nanos) {
        return use(QuotaKeys.REQUEST_PERCENTAGE, principal, clientId, nanos / NANOS_PER_SECOND * PERCENT);
    }

    /**
     * Counts a new connection, unless the address has exceeded its quota. Connections that are refused do not count, so
     * that an address never waits for longer than its quota says.
     *
     * @return whether the connection may stay
     */
    public boolean admits(InetAddress address) {
        ClientQuotas current = quotas.get();
        Applied applied = current.isEmpty() ? null : current.find(QuotaKeys.CONNECTIONS, address.getHostAddress());
        if (applied == null) {
            return true;
        }
        long now = nanoTime.getAsLong();
        long cost = Math.min(MAX_DEBT_NANOS, (long) (NANOS_PER_SECOND / applied.limit()));
        AtomicLong usedUp = counter(QuotaKeys.CONNECTIONS, applied, now);
        long before = usedUp.get();
        while (true) {
            long begun = Math.max(before - now, -BURST_NANOS) + now;
            if (begun + cost > now) {
                return false;
            }
            long witness = usedUp.compareAndExchange(before, begun + cost);
            if (witness == before) {
                return true;
            }
            before = witness;
        }
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
        long cost = Math.min(MAX_DEBT_NANOS, (long) (amount / applied.limit() * NANOS_PER_SECOND));
        AtomicLong usedUp = counter(key, applied, now);
        long until = usedUp.updateAndGet(
                before -> now + Math.min(MAX_DEBT_NANOS, Math.max(before - now, -BURST_NANOS) + cost));
        return (int) Math.min(MAX_WAIT_MS, Math.max(0, TimeUnit.NANOSECONDS.toMillis(until - now)));
    }

    private AtomicLong counter(String key, Applied applied, long now) {
        Counted client = new Counted(key, applied.countedFor());
        if (usages.size() >= MAX_COUNTED && !usages.containsKey(client)) {
            usages.values().removeIf(other -> other.usedUpNanos().get() - now <= -BURST_NANOS);
            client = usages.size() < MAX_COUNTED ? client : new Counted(key, OTHERS);
        }
        Usage usage = usages.get(client);
        if (usage == null || usage.limit() != applied.limit()) {
            usage = usages.compute(
                    client,
                    (counted, before) -> before == null
                            ? new Usage(applied.limit(), new AtomicLong(now - BURST_NANOS))
                            : before.at(applied.limit(), now));
        }
        return usage.usedUpNanos();
    }
}
