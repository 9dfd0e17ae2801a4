package io.journalq.server.broker;

import io.journalq.common.id.Uuid;
import io.journalq.server.control.QuorumTls;
import io.journalq.server.journal.file.FileStore;
import io.journalq.server.loop.FutureWaiter;
import io.journalq.server.loop.LoopCycle;
import io.journalq.server.memory.MemoryBudget;
import io.journalq.server.peer.PeerChannels;
import io.journalq.server.security.Principal;
import java.time.Clock;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * Everything that a broker depends on and that can make two runs differ. A simulation passes its own files, loops, time
 * and ids. Immutable.
 *
 * @param store its files
 * @param cycles its event loops, one for each shard
 * @param blockingPool runs operations that may block
 * @param controllerThread runs metadata changes one after the other; shut down when the core is closed
 * @param memory the heap budget of its state
 * @param clock the time of day
 * @param ids supplies ids that are unique and cannot be guessed
 * @param waiting how a thread waits for a future
 * @param peers requests to other brokers; null if the broker is alone
 * @param trust who the other brokers are
 */
public record BrokerEnvironment(
        FileStore store,
        List<LoopCycle> cycles,
        Executor blockingPool,
        ExecutorService controllerThread,
        MemoryBudget memory,
        Clock clock,
        Supplier<Uuid> ids,
        FutureWaiter waiting,
        PeerChannels peers,
        PeerTrust trust) {
    /** Without certificates of brokers. */
    public BrokerEnvironment(
            FileStore store,
            List<LoopCycle> cycles,
            Executor blockingPool,
            ExecutorService controllerThread,
            MemoryBudget memory,
            Clock clock,
            Supplier<Uuid> ids,
            FutureWaiter waiting,
            PeerChannels peers) {
        this(store, cycles, blockingPool, controllerThread, memory, clock, ids, waiting, peers, PeerTrust.ALL);
    }

    /**
     * How a broker knows that others are brokers.
     *
     * @param brokers whether a client of the listener for brokers is one
     * @param quorum keys and trust of the voters; null if their connections are not encrypted
     */
    public record PeerTrust(Predicate<Principal> brokers, QuorumTls quorum) {
        /** Without certificates, so that who may connect decides. */
        public static final PeerTrust ALL = new PeerTrust(client -> true, null);
    }
}
