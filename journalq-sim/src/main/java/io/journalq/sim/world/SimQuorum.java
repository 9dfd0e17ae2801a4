package io.journalq.sim.world;

import io.journalq.common.protocol.Message;
import io.journalq.server.control.MetadataBatch;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/**
 * A model of the quorum that keeps the metadata of a cluster: the contract of {@code control.MetadataLog}, without the
 * messages of a consensus protocol. Every machine votes. In a term there is at most one leader, and only that leader
 * adds entries, as long as it reaches a majority. A leader that was deposed learns this late. An entry of a deposed
 * leader is kept or lost at the next election. Voters apply entries late, and may receive a snapshot instead.
 */
public final class SimQuorum {
    private static final long TICK_NANOS = TimeUnit.MILLISECONDS.toNanos(50);
    /** A leader without a majority is deposed after about this number of ticks. */
    private static final int TICKS_TO_DEPOSE = 15;

    private static final long LONGEST_COMMIT_NANOS = TimeUnit.MILLISECONDS.toNanos(5);
    private static final long LONGEST_SLOW_COMMIT_NANOS = TimeUnit.MILLISECONDS.toNanos(300);
    private static final long LONGEST_REPEAT_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    private final Scheduler scheduler;
    private final Random random;
    private final SimNetwork network;
    private final Odds odds;
    private final Interference interference;
    private final Listener listener;
    private final List<Voter> voters = new ArrayList<>();
    private final List<Entry> entries = new ArrayList<>();
    /** Proposals that are not entries yet, and that may become one. */
    private final List<Proposal> undecided = new ArrayList<>();

    private int term;
    /** The leader of the term; null if there is none. */
    private Voter leader;

    private int ticksWithoutMajority;

    /**
     * How often faults happen: one in {@code n} cases on average, never if {@code n} is 0.
     *
     * @param election an election without a reason, at each tick
     * @param unknownOutcome a proposal that fails for its caller, and may become an entry all the same
     * @param repeated an entry that is added a second time, later
     * @param slow a commit or an application that takes long
     * @param snapshot a snapshot instead of entries
     */
    public record Odds(int election, int unknownOutcome, int repeated, int slow, int snapshot) {}

    /** Hears what voters apply, before they apply it. */
    public interface Listener {
        /** A voter applies records at an offset of its log. */
        void onReplay(int nodeId, long offset, List<Message> records);

        /** A voter replaces its state, so that its log goes on at an offset. */
        void onRestore(int nodeId, long offset, List<Message> snapshot);
    }

    /**
     * An entry of the log, which a majority has.
     *
     * @param term the term of the entry
     * @param decidedIn the term in which the batch was decided on; a voter applies the entry only if this is its term
     * @param proposal what has led to the entry; null for the beginning of the log
     */
    record Entry(int term, MetadataBatch batch, int decidedIn, Proposal proposal) {}

    /** A batch that a leader has proposed. */
    static final class Proposal {
        private final SimMetadataLog proposer;
        private final MetadataBatch batch;
        private final int term;

        Proposal(SimMetadataLog proposer, MetadataBatch batch, int term) {
            this.proposer = proposer;
            this.batch = batch;
            this.term = term;
        }
    }

    /** One machine of the quorum, and what it keeps on its disk. */
    static final class Voter {
        final int id;
        /** In the current process; null while there is none. */
        SimMetadataLog log;

        Snapshot snapshot = Snapshot.NONE;

        Voter(int id) {
            this.id = id;
        }
    }

    /**
     * The state of a voter.
     *
     * @param index number of entries that it contains
     * @param endOffset number of records that it contains
     */
    record Snapshot(int index, long endOffset, List<Message> records) {
        static final Snapshot NONE = new Snapshot(0, 0, List.of());
    }

    /**
     * Creates a quorum without machines.
     *
     * @param beginning the records with which the log begins
     */
    public SimQuorum(
            Scheduler scheduler,
            Random random,
            SimNetwork network,
            Odds odds,
            Interference interference,
            Listener listener,
            List<Message> beginning) {
        this.scheduler = scheduler;
        this.random = random;
        this.network = network;
        this.odds = odds;
        this.interference = interference;
        this.listener = listener;
        entries.add(new Entry(0, new MetadataBatch(0, beginning), 0, null));
        scheduler.after(TICK_NANOS, this::tick);
    }

    /** Adds a voter. */
    public void add(int nodeId) {
        voters.add(new Voter(nodeId));
    }

    /** The log of a voter for its current process. */
    public SimMetadataLog log(SimNode node) {
        return new SimMetadataLog(this, voter(node.id()), node);
    }

    private Voter voter(int nodeId) {
        return voters.stream().filter(voter -> voter.id == nodeId).findFirst().orElseThrow();
    }

    List<Integer> voterIds() {
        return voters.stream().map(voter -> voter.id).toList();
    }

    Random random() {
        return random;
    }

    Interference interference() {
        return interference;
    }

    Listener listener() {
        return listener;
    }

    int term() {
        return term;
    }

    /** Number of entries that a majority has. */
    int size() {
        return entries.size();
    }

    Entry entry(int index) {
        return entries.get(index);
    }

    boolean happens(int oneIn) {
        return oneIn > 0 && random.nextInt(oneIn) == 0;
    }

    Odds odds() {
        return odds;
    }

    /** A voter has a new process, which leads nothing. */
    void onOpen(Voter voter, SimMetadataLog log) {
        voter.log = log;
        if (leader == voter) {
            leader = null;
        }
    }

    boolean leads(Voter voter, int inTerm) {
        return leader == voter && term == inTerm;
    }

    /** The id of the leader if the voter hears from it, otherwise {@code before}. */
    int leaderSeenBy(Voter voter, int before) {
        return leader != null && !network.isCut(leader.id, voter.id) ? leader.id : before;
    }

    /** Whether the entries of the leader reach a voter. */
    boolean isFed(Voter voter) {
        return leader != null && isActive(leader) && !network.isCut(leader.id, voter.id);
    }

    /** A voter that runs, that this one hears, and that has applied more; null if there is none. */
    SimMetadataLog ahead(Voter behind, int index) {
        return voters.stream()
                .filter(voter -> isActive(voter) && !network.isCut(voter.id, behind.id))
                .map(voter -> voter.log)
                .filter(log -> log.appliedIndex() > index)
                .findFirst()
                .orElse(null);
    }

    private static boolean isAlive(Voter voter) {
        return voter.log != null && voter.log.isOpen();
    }

    private static boolean isActive(Voter voter) {
        return voter.log != null && voter.log.isActive();
    }

    private boolean hasMajority(Voter voter) {
        long reached = voters.stream()
                .filter(other -> isActive(other) && network.isConnected(voter.id, other.id))
                .count();
        return isActive(voter) && 2 * reached > voters.size();
    }

    private boolean reachesAnother(Voter voter) {
        return voters.stream()
                .anyMatch(other -> other != voter && isActive(other) && !network.isCut(voter.id, other.id));
    }

    // ---- proposals

    /** A voter that believes to lead proposes a batch. */
    void propose(Proposal proposal) {
        Voter voter = proposal.proposer.voter();
        if (leads(voter, proposal.term) && reachesAnother(voter)) {
            undecided.add(proposal);
        }
        long longestNanos = happens(odds.slow()) ? LONGEST_SLOW_COMMIT_NANOS : LONGEST_COMMIT_NANOS;
        scheduler.later(longestNanos, () -> commit(proposal));
        if (happens(odds.unknownOutcome())) {
            scheduler.later(longestNanos, () -> proposal.proposer.onUnknownOutcome(proposal));
        }
    }

    private void commit(Proposal proposal) {
        Voter voter = proposal.proposer.voter();
        if (!leads(voter, proposal.term) || !isAlive(voter) || voter.log != proposal.proposer) {
            return; // The next election decides.
        }
        if (!hasMajority(voter)) {
            scheduler.after(TICK_NANOS, () -> commit(proposal));
            return;
        }
        undecided.remove(proposal);
        append(new Entry(term, proposal.batch, proposal.term, proposal));
    }

    private void append(Entry entry) {
        entries.add(entry);
        if (happens(odds.repeated())) {
            scheduler.later(LONGEST_REPEAT_NANOS, () -> repeat(entry));
        }
        feed();
    }

    private void repeat(Entry entry) {
        if (leader != null && hasMajority(leader)) {
            entries.add(new Entry(term, entry.batch(), entry.decidedIn(), entry.proposal()));
            feed();
        }
    }

    private void feed() {
        for (Voter voter : voters) {
            if (isAlive(voter)) {
                voter.log.applyLater();
            }
        }
    }

    // ---- elections

    private void tick() {
        scheduler.after(TICK_NANOS, this::tick);
        if (leader != null) {
            ticksWithoutMajority = hasMajority(leader) ? 0 : ticksWithoutMajority + 1;
            boolean gone = !isAlive(leader) || ticksWithoutMajority > 0;
            if (gone && ticksWithoutMajority > random.nextInt(2 * TICKS_TO_DEPOSE)) {
                leader = null;
            }
        }
        if ((leader == null && random.nextInt(3) == 0) || happens(odds.election())) {
            List<Voter> candidates = voters.stream().filter(this::hasMajority).toList();
            if (!candidates.isEmpty()) {
                elect(candidates.get(random.nextInt(candidates.size())));
            }
        }
        for (Voter voter : voters) {
            if (isAlive(voter)) {
                voter.log.onTick(leader == voter ? term : 0);
            }
        }
        feed();
    }

    /** A voter asks to be elected, although there is a leader. */
    void takeOver(Voter voter) {
        if (leader != voter && hasMajority(voter)) {
            elect(voter);
        }
    }

    private void elect(Voter elected) {
        term++;
        leader = elected;
        ticksWithoutMajority = 0;
        for (Proposal proposal : List.copyOf(undecided)) {
            if (random.nextBoolean()) {
                entries.add(new Entry(proposal.term, proposal.batch, proposal.term, proposal));
            }
        }
        undecided.clear();
        elected.log.onElected(term, entries.size());
    }
}
