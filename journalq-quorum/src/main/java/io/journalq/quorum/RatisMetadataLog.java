package io.journalq.quorum;

import io.journalq.server.control.MetadataBatch;
import io.journalq.server.control.MetadataLog;
import io.journalq.server.control.QuorumProvider;
import io.journalq.server.control.QuorumVoter;
import io.journalq.server.journal.file.FileStore;
import io.netty.buffer.ByteBufAllocator;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Clock;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.logging.Level;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.storage.RaftStorage.StartupOption;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The metadata log of a cluster: a Ratis server with one group, whose entries are record batches. A batch carries the
 * offset at which it was decided on and the term of the leader that decided. A voter applies it only if both still match,
 * so a repeated or late proposal does no harm.
 *
 * <p>Ratis closes its server after a long pause of the process, and after a failure of the disk or of an apply. This log
 * then opens another one, until that succeeds. The applied state stays.
 *
 * <p>Any thread may call any method. Ratis threads call the replica, one at a time, and complete proposals.
 */
public final class RatisMetadataLog implements MetadataLog, MetadataLog.Voters {
    private static final Logger log = LoggerFactory.getLogger(RatisMetadataLog.class);

    /** gRPC logs there, and its messages would go to standard error. Referenced, because its level is lost otherwise. */
    private static final java.util.logging.Logger GRPC_LOG =
            java.util.logging.Logger.getLogger("org.apache.ratis.thirdparty.io.grpc");

    /** Holds the journal of applied batches, as for a single broker. */
    static final String METADATA_DIRECTORY = "metadata";

    /**
     * Ratis does not sync the directory in which it stores a vote, so a power loss can take the vote back. A voter that
     * comes back waits until that election is over.
     */
    static final int LOST_VOTE_WAIT_MS = 2 * RatisSettings.ELECTION_TIMEOUT_MAX_MS;

    private static final int METADATA_TIMEOUT_MS = 60_000;
    private static final int METADATA_CHECK_MS = 10;

    private final QuorumConfig config;
    private final QuorumProvider.Admission admission;
    private final FileStore store;
    private final ByteBufAllocator allocator;
    private final VoterDirectory directory;
    private final RaftPeerId self;
    private final RaftGroupId group;
    private final QuorumRequests requests;
    private final QuorumMembers quorum;
    private final ScheduledExecutorService background =
            Executors.newSingleThreadScheduledExecutor(work -> new Thread(work, "journalq-quorum"));
    private final MetadataProposals proposals;

    private final QuorumRole role = new QuorumRole();

    /** Used while this log's monitor is held. */
    private final ReopenBackoff backoff = new ReopenBackoff();

    private AppliedMetadata applied;
    private volatile Members lastMembers = new Members(Members.NO_LEADER, 0, List.of());

    /** Null while there is none. Set while this log's monitor is held. */
    private volatile OpenServer server;

    private boolean closed;

    /** Creates the log of a voter; {@link #open} opens it. */
    public RatisMetadataLog(QuorumConfig config, FileStore store, Clock clock, ByteBufAllocator allocator) {
        this(config, store, clock, allocator, null);
    }

    /**
     * Creates a log; {@link #open} opens it.
     *
     * @param admission asks a quorum to add this voter; null for a voter
     */
    RatisMetadataLog(
            QuorumConfig config,
            FileStore store,
            Clock clock,
            ByteBufAllocator allocator,
            QuorumProvider.Admission admission) {
        this.admission = admission;
        this.config = config;
        this.store = store;
        this.allocator = allocator;
        this.directory = VoterDirectory.in(
                config.dataDirectory().resolve(QuorumProvider.DIRECTORY),
                config.self().directoryId(),
                config.clusterId());
        this.self = QuorumMembers.peerId(config.self());
        this.group = QuorumMembers.groupId(config.clusterId());
        this.requests = new QuorumRequests(self, group);
        this.quorum = new QuorumMembers(config, requests);
        this.proposals = new MetadataProposals(requests::append, clock, allocator, background);
    }

    /** A Ratis server and what it reports. */
    private final class OpenServer implements MetadataStateMachine.Listener {
        private final MetadataStateMachine machine;
        private final RaftServer ratis;
        private final AtomicBoolean failed = new AtomicBoolean();
        private final long openedNanos = System.nanoTime();
        private final TermWatch termWatch;
        private volatile boolean removed;

        OpenServer(StartupOption option) throws IOException {
            machine = new MetadataStateMachine(store, applied, config.sizes().snapshotBytes(), this);
            ratis = RaftServer.newBuilder()
                    .setServerId(self)
                    .setGroup(QuorumMembers.group(config))
                    .setStateMachine(machine)
                    .setProperties(RatisSettings.of(config, directory.storage(), backoff.firstElectionMs()))
                    .setParameters(RatisSettings.parameters(self, config.tls()))
                    .setOption(option)
                    .build();
            termWatch = new TermWatch(
                    ratis,
                    group,
                    () -> server == this,
                    requests::stepDown,
                    check -> inBackground(check, TermWatch.CHECK_MS));
        }

        @Override
        public void onElected() {
            termWatch.begin();
        }

        @Override
        public void onLeaderReady(long newTerm) {
            if (server == this) {
                role.lead((int) newTerm);
            }
        }

        @Override
        public void onNotLeader() {
            if (server == this) {
                role.follow();
            }
        }

        @Override
        public void onVoter(boolean votes) {
            removed = !votes;
        }

        @Override
        public void onSnapshotDue() {
            var unused = ratis.snapshotManagementAsync(requests.snapshot()).whenComplete((reply, failure) -> {
                if (failure != null) {
                    log.warn("no snapshot of the metadata is taken: reason=\"{}\"", failure.getMessage(), failure);
                }
                if (failure != null || !reply.isSuccess()) {
                    machine.onSnapshotFailed();
                }
            });
        }

        @Override
        public void onServerFailed(Throwable cause, boolean permanent) {
            // The server of a log that has failed is closed by this log, and no other one opens.
            if (server != this || role.hasFailed() || !failed.compareAndSet(false, true)) {
                return;
            }
            if (permanent) {
                log.error(
                        "event=metadata-log-failed remedy=\"start the newer release that the reason names, or replace"
                                + " this broker\"",
                        cause);
                fail(new IOException("the metadata log cannot be applied: " + cause, cause));
                closeLater();
            } else if (removed && !quorum.namesThisVoter(ratis)) {
                log.info("this broker is no longer a voter of the metadata quorum");
                role.follow();
            } else {
                log.warn(
                        "the server of the metadata quorum cannot go on: reason=\"{}\"",
                        cause == null ? closedItself() : cause.getMessage(),
                        cause);
                role.follow();
                inBackground(() -> replace(this, cause == null), 0);
            }
        }

        /** Ratis does so after a long pause, and if the other voters say that this one was removed. */
        private String closedItself() {
            QuorumVoter voter = config.self();
            return "it has closed itself; if this broker was removed from the voters, set cluster.join to other brokers and"
                    + " restart it, or run bin/journalq cluster add-voter " + voter.nodeId() + " " + voter.directoryId()
                    + " " + voter.host() + ":" + voter.port() + " --execute";
        }

        /** Closes this server when it has started: Ratis cannot do both at the same time. */
        void closeLater() {
            inBackground(
                    () -> {
                        synchronized (RatisMetadataLog.this) {
                            close();
                            // One can have begun while the log failed.
                            proposals.fail("the metadata log has failed");
                        }
                    },
                    0);
        }

        void close() {
            machine.detach();
            try {
                ratis.close();
            } catch (IOException | RuntimeException | Error failure) {
                log.warn(
                        "the server of the metadata quorum did not close: reason=\"{}\"",
                        failure.getMessage(),
                        failure);
            }
        }
    }

    @Override
    public void onRole(Consumer<Role> listener) {
        role.onChange(listener);
    }

    @Override
    public void open(Replica replica) throws IOException {
        openServer(replica);
        if (admission != null) {
            // Not while the monitor is held: the server can close itself meanwhile, and is then opened again.
            admission.ask();
            awaitMetadata();
        }
    }

    private synchronized void openServer(Replica replica) throws IOException {
        ProcessExit.forbid();
        GRPC_LOG.setLevel(Level.WARNING);
        applied = new AppliedMetadata(
                store, config.dataDirectory().resolve(METADATA_DIRECTORY), background, allocator, replica);
        applied.open();
        boolean formatted = directory.isComplete(store);
        if (!formatted && applied.hasRecords()) {
            throw new IOException(
                    config.dataDirectory() + " has a metadata log, but no part of a metadata quorum; use a"
                            + " directory without data for a new voter");
        }
        if (formatted && config.lostPower()) {
            sleep(LOST_VOTE_WAIT_MS, "interrupted while an election may be in progress");
        }
        startServer();
    }

    private void awaitMetadata() throws IOException {
        long deadlineNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(METADATA_TIMEOUT_MS);
        while (applied.endOffset() == 0) {
            if (role.hasFailed()) {
                throw role.refusal();
            }
            if (System.nanoTime() > deadlineNanos) {
                throw new IOException("the metadata of the cluster did not arrive within " + METADATA_TIMEOUT_MS / 1_000
                        + " s, although the quorum has added this voter; start the broker again");
            }
            sleep(METADATA_CHECK_MS, "interrupted while the metadata of the cluster arrives");
        }
    }

    private static void sleep(int timeMs, String interruption) throws IOException {
        try {
            Thread.sleep(timeMs);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException(interruption);
        }
    }

    private void startServer() throws IOException {
        boolean formatted = directory.isComplete(store);
        if (formatted) {
            // The server before this one may have failed while it replaced its snapshots.
            directory.restoreSnapshots(store);
        }
        store.createDurableDirectories(directory.storage());
        if (VoterDirectory.isUnformatted(store, directory.group())) {
            // Ratis formats no directory that exists.
            store.delete(directory.group());
        }
        OpenServer opened = new OpenServer(formatted ? StartupOption.RECOVER : StartupOption.FORMAT);
        server = opened;
        try {
            opened.ratis.start();
            if (!formatted) {
                directory.sync(store);
            }
        } catch (IOException | RuntimeException | Error failure) {
            server = null;
            opened.close();
            throw ProcessExit.asIoException(
                    failure, config.bind().getHostString() + ":" + config.bind().getPort());
        }
    }

    /**
     * Closes a server that cannot go on, and opens another one later.
     *
     * @param closedItself whether it was closed by itself, see {@link ReopenBackoff#onClosed}
     */
    private synchronized void replace(OpenServer useless, boolean closedItself) {
        if (closed || server != useless) {
            return;
        }
        server = null;
        useless.close();
        proposals.fail("the server of the metadata quorum was closed");
        backoff.onClosed(System.nanoTime() - useless.openedNanos, closedItself);
        reopenLater();
    }

    private synchronized void reopen() {
        if (closed || role.hasFailed()) {
            return;
        }
        try {
            startServer();
            if (role.hasFailed()) {
                // It was fenced before there was a server to close.
                server.closeLater();
            }
        } catch (IOException | RuntimeException | Error failure) {
            log.warn("the server of the metadata quorum does not open: reason=\"{}\"", failure.getMessage(), failure);
            reopenLater();
        }
    }

    private void reopenLater() {
        int delayMs = backoff.nextDelayMs();
        log.info("the server of the metadata quorum opens again in {} ms", delayMs);
        inBackground(this::reopen, delayMs);
    }

    private void inBackground(Runnable work, int delayMs) {
        try {
            var unused = background.schedule(work, delayMs, TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException closing) {
            log.debug("the metadata log is closed", closing);
        }
    }

    private void fail(IOException reason) {
        role.fail(reason);
        proposals.fail("the metadata log has failed");
    }

    @Override
    public void fence(IOException reason) {
        fail(reason);
        OpenServer useless = server;
        if (useless != null) {
            useless.closeLater();
        }
    }

    @Override
    public boolean electsLeader() {
        return true;
    }

    @Override
    public int maxBatchBytes() {
        return RatisSettings.MAX_BATCH_BYTES;
    }

    @Override
    public Members members() {
        OpenServer now = server;
        if (now != null) {
            try {
                lastMembers = quorum.members(now.ratis);
            } catch (IOException closedNow) {
                log.debug("the members of the metadata quorum are those of before", closedNow);
            }
        }
        return lastMembers;
    }

    /** The server that is open now; null if there is none. Tests close it as Ratis does. */
    RaftServer ratis() {
        OpenServer now = server;
        return now == null ? null : now.ratis;
    }

    @Override
    public Voters voters() {
        return this;
    }

    @Override
    public CompletableFuture<Void> add(QuorumVoter voter, boolean replaces) {
        OpenServer now = server;
        return now == null ? notOpen() : quorum.add(now.ratis, voter, replaces);
    }

    @Override
    public CompletableFuture<Void> remove(int nodeId) {
        OpenServer now = server;
        return now == null ? notOpen() : quorum.remove(now.ratis, nodeId);
    }

    @Override
    public QuorumState state() {
        OpenServer now = server;
        if (now == null) {
            return null;
        }
        try {
            return quorum.state(now.ratis);
        } catch (IOException closedNow) {
            log.debug("the state of the metadata quorum is not known", closedNow);
            return null;
        }
    }

    @Override
    public void takeOver() {
        OpenServer now = server;
        if (now != null) {
            inBackground(() -> quorum.beginElection(now.ratis), 0);
        }
    }

    private static CompletableFuture<Void> notOpen() {
        return CompletableFuture.failedFuture(new IOException("the server of the metadata quorum is not open"));
    }

    // ---- proposals

    @Override
    public CompletableFuture<Void> propose(MetadataBatch batch) {
        OpenServer now = server;
        if (!role.isLeading() || now == null) {
            return CompletableFuture.failedFuture(role.refusal());
        }
        int proposedTerm = role.term();
        return proposals.propose(now.ratis, batch, proposedTerm, applied, () -> role.followAfter(proposedTerm));
    }

    @Override
    public synchronized void close() throws IOException {
        if (closed) {
            return;
        }
        closed = true;
        try {
            OpenServer last = server;
            server = null;
            if (last != null) {
                last.close();
            }
            proposals.fail("the broker stops");
            if (applied != null) {
                applied.close();
            }
        } finally {
            background.shutdown();
        }
    }
}
