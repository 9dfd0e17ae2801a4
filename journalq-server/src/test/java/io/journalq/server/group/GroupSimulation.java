package io.journalq.server.group;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.HeartbeatRequest;
import io.journalq.common.protocol.message.JoinGroupRequest;
import io.journalq.common.protocol.message.JoinGroupResponse;
import io.journalq.common.protocol.message.LeaveGroupRequest;
import io.journalq.common.protocol.message.SyncGroupRequest;
import io.journalq.common.protocol.message.SyncGroupResponse;
import io.journalq.server.coordinator.CoordinatorRecord;
import io.journalq.server.coordinator.Reply;
import io.journalq.server.coordinator.RetentionTime;
import io.journalq.server.group.GroupLimits.GroupCount;
import io.journalq.server.group.GroupLimits.GroupMemory;
import io.journalq.server.group.consumer.ConsumerGroupLimits;
import io.journalq.server.group.model.Group.Origin;
import io.journalq.server.group.record.OffsetCommitKey;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Consumer;

/**
 * One group with random clients, in one thread and simulated time. The clients join, sync, send heartbeats, commit,
 * fall silent and leave. The coordinator crashes and replays its records. The seed determines everything.
 */
final class GroupSimulation {
    private static final String GROUP = "g";
    private static final int PARTITIONS = 7;
    private static final int SESSION_MS = 1_000;
    private static final int REBALANCE_MS = 2_000;
    private static final GroupLimits LIMITS =
            new GroupLimits(100, 1, 100_000, 300, 100, Long.MAX_VALUE, Long.MAX_VALUE / 4);

    private final Random random;
    private final GroupBug bug;
    private final List<byte[][]> journal = new ArrayList<>();
    private final List<Client> clients = new ArrayList<>();
    /** The last acknowledged committed offset of each partition, including offsets that were reset on purpose. */
    private final Map<Integer, Long> committed = new LinkedHashMap<>();
    /** Owner of each partition in the newest generation that any client knows. */
    private final Map<Integer, Client> owners = new LinkedHashMap<>();

    private GroupMachine machine;
    private int ownersGeneration;
    private long nowMs = 1_000_000;
    private long nextId;

    GroupSimulation(long seed, int clientCount) {
        this(seed, clientCount, GroupBug.NONE);
    }

    GroupSimulation(long seed, int clientCount, GroupBug bug) {
        this.random = new Random(seed);
        this.bug = bug;
        for (int i = 0; i < clientCount; i++) {
            clients.add(new Client(i));
        }
        load();
    }

    /** Creates a machine from its records. */
    private void load() {
        GroupMachine[] loaded = new GroupMachine[1];
        loaded[0] = new GroupMachine(
                LIMITS,
                ConsumerGroupLimits.DEFAULT,
                GroupCount.UNLIMITED,
                GroupMemory.UNBOUNDED,
                records -> append(loaded[0], records),
                RetentionTime.CLOCK,
                () -> "id" + nextId++);
        for (byte[][] record : journalWith(bug)) {
            loaded[0].replay(decode(record));
        }
        machine = loaded[0];
        machine.onLoaded(nowMs);
    }

    private static CoordinatorRecord decode(byte[][] record) {
        return GroupRecords.TYPES.decode(
                Unpooled.wrappedBuffer(record[0]), record[1] == null ? null : Unpooled.wrappedBuffer(record[1]));
    }

    /** The journal as a coordinator with a bug reads it. */
    private List<byte[][]> journalWith(GroupBug itsBug) {
        List<byte[][]> read = new ArrayList<>(journal);
        int newest = newestCommit(read, read.size(), null);
        if (newest >= 0 && itsBug == GroupBug.FORGETS_A_COMMIT) {
            read.remove(newest);
        } else if (newest >= 0 && itsBug == GroupBug.GOES_BACK_TO_AN_OLD_COMMIT) {
            int before = newestCommit(read, newest, read.get(newest)[0]);
            if (before >= 0) {
                Collections.swap(read, before, newest);
            }
        }
        return read;
    }

    /** Index of the newest committed offset before an index, with this key unless it is null. -1 if there is none. */
    private static int newestCommit(List<byte[][]> records, int end, byte[] key) {
        for (int i = end - 1; i >= 0; i--) {
            boolean wanted = key == null
                    ? decode(records.get(i)).key() instanceof OffsetCommitKey
                    : Arrays.equals(records.get(i)[0], key);
            if (wanted) {
                return i;
            }
        }
        return -1;
    }

    private void append(GroupMachine to, List<CoordinatorRecord> records) {
        for (CoordinatorRecord record : records) {
            journal.add(new byte[][] {
                bytes(GroupRecords.TYPES.encodeKey(record, ByteBufAllocator.DEFAULT)),
                bytes(GroupRecords.TYPES.encodeValue(record, ByteBufAllocator.DEFAULT))
            });
            to.replay(record);
        }
    }

    private static byte[] bytes(ByteBuf buffer) {
        if (buffer == null) {
            return null;
        }
        byte[] bytes = ClassicGroup.bytes(buffer);
        buffer.release();
        return bytes;
    }

    /** Runs {@code events} random events. */
    void run(int events) {
        for (int i = 0; i < events; i++) {
            event();
            checkCommitted();
        }
    }

    /** No client falls silent any more. All clients must get partitions, and together exactly the whole topic. */
    void settle() {
        for (int i = 0; i < 400; i++) {
            pass(50);
            for (Client client : clients) {
                client.live();
            }
        }
        Map<Integer, Client> shared = new LinkedHashMap<>();
        for (Client client : clients) {
            if (!client.isStable) {
                throw new AssertionError("client " + client.number + " did not settle");
            }
            for (int partition : client.partitions) {
                if (shared.put(partition, client) != null) {
                    throw new AssertionError("partition " + partition + " has two owners");
                }
            }
        }
        if (shared.size() != PARTITIONS) {
            throw new AssertionError("owned: " + shared.keySet());
        }
    }

    private void event() {
        pass(random.nextInt(120));
        int choice = random.nextInt(100);
        Client client = clients.get(random.nextInt(clients.size()));
        if (choice < 85) {
            client.live();
        } else if (choice < 90) {
            client.leave();
        } else if (choice < 93) {
            pass(SESSION_MS + REBALANCE_MS);
        } else if (choice < 96) {
            client.forget();
        } else if (choice < 97) {
            reset();
        } else {
            clients.forEach(Client::loseResponses);
            load();
        }
    }

    /** A client that is not a member resets an offset, which is allowed while there are no members. */
    private void reset() {
        int partition = random.nextInt(PARTITIONS);
        long offset = random.nextInt(3);
        CommittedOffsets.Commit commit = new CommittedOffsets.Commit("t", new Uuid(1, 1), partition, offset, 0, 0, "");
        machine.onOffsetCommit(
                GROUP,
                new CommittedOffsets.Committer("", null, -1),
                List.of(commit),
                nowMs,
                reply(clients.get(0), outcomes -> {
                    if (outcomes.get(0) == ErrorCode.NONE) {
                        String state = machine.describe(GROUP).groupState();
                        if (!state.equals("Empty")) {
                            throw new AssertionError("an offset was reset in a group that is " + state);
                        }
                        committed.put(partition, offset);
                    }
                }));
    }

    private void pass(int byMs) {
        nowMs += byMs;
        machine.onTick(nowMs);
    }

    private void checkCommitted() {
        committed.forEach((partition, offset) -> {
            GroupOffset stored = machine.offsets().get(GROUP, "t", partition);
            if (stored == null || stored.offset() != offset) {
                throw new AssertionError("partition " + partition + ": acknowledged " + offset + ", stored " + stored);
            }
        });
    }

    private <T> Reply<T> reply(Client client, Consumer<T> send) {
        int life = client.life;
        return new Reply<>() {
            private boolean decided;

            @Override
            public void send(T response) {
                if (decided) {
                    throw new AssertionError("replied twice");
                }
                decided = true;
                if (client.life == life) {
                    send.accept(response);
                }
            }

            @Override
            public void fail(ErrorCode error) {
                throw new AssertionError("a machine without a host cannot be unavailable");
            }
        };
    }

    /** A consumer that follows the protocol. */
    private final class Client {
        private final int number;
        private String memberId = "";
        private int generation = -1;
        private boolean waits;
        private boolean isStable;
        private List<Integer> partitions = List.of();
        private int life;

        Client(int number) {
            this.number = number;
        }

        /** Performs the next step of the client. */
        void live() {
            if (waits) {
                return;
            }
            if (!isStable) {
                join();
            } else if (random.nextInt(3) == 0 && !partitions.isEmpty()) {
                commit();
            } else {
                heartbeat();
            }
        }

        /** Responses that the coordinator has not sent are lost with it. */
        void loseResponses() {
            life++;
            waits = false;
        }

        /** The client's process is restarted without any state. */
        void forget() {
            life++;
            reset();
        }

        private void reset() {
            memberId = "";
            waits = false;
            release();
        }

        private void release() {
            isStable = false;
            partitions = List.of();
        }

        private void join() {
            waits = true;
            JoinGroupRequest request = new JoinGroupRequest()
                    .setGroupId(GROUP)
                    .setMemberId(memberId)
                    .setSessionTimeoutMs(SESSION_MS)
                    .setRebalanceTimeoutMs(REBALANCE_MS)
                    .setProtocolType("consumer")
                    .setProtocols(List.of(new JoinGroupRequest.JoinGroupRequestProtocol()
                            .setName("range")
                            .setMetadata(Unpooled.EMPTY_BUFFER)));
            machine.onJoinGroup(
                    new Origin("c" + number, "/host"), (short) 7, request, nowMs, reply(this, this::onJoined));
        }

        private void onJoined(JoinGroupResponse response) {
            waits = false;
            ErrorCode error = ErrorCode.of(response.errorCode());
            if (error == ErrorCode.MEMBER_ID_REQUIRED) {
                memberId = response.memberId();
            } else if (error != ErrorCode.NONE) {
                reset();
            } else {
                memberId = response.memberId();
                generation = response.generationId();
                sync(response);
            }
        }

        private void sync(JoinGroupResponse joined) {
            waits = true;
            List<SyncGroupRequest.SyncGroupRequestAssignment> assignments = new ArrayList<>();
            if (joined.leader().equals(memberId)) {
                for (int i = 0; i < joined.members().size(); i++) {
                    StringBuilder share = new StringBuilder();
                    for (int partition = i;
                            partition < PARTITIONS;
                            partition += joined.members().size()) {
                        share.append(partition).append(' ');
                    }
                    assignments.add(new SyncGroupRequest.SyncGroupRequestAssignment()
                            .setMemberId(joined.members().get(i).memberId())
                            .setAssignment(Unpooled.copiedBuffer(share, StandardCharsets.UTF_8)));
                }
            }
            machine.onSyncGroup(
                    new SyncGroupRequest()
                            .setGroupId(GROUP)
                            .setMemberId(memberId)
                            .setGenerationId(generation)
                            .setAssignments(assignments),
                    nowMs,
                    reply(this, this::onSynced));
        }

        private void onSynced(SyncGroupResponse response) {
            waits = false;
            ErrorCode error = ErrorCode.of(response.errorCode());
            if (error == ErrorCode.REBALANCE_IN_PROGRESS) {
                release();
            } else if (error != ErrorCode.NONE) {
                reset();
            } else {
                isStable = true;
                partitions = new ArrayList<>();
                String share = response.assignment().toString(StandardCharsets.UTF_8);
                share.lines()
                        .flatMap(line -> java.util.Arrays.stream(line.split(" ", 0)))
                        .forEach(text -> {
                            if (!text.isEmpty()) {
                                partitions.add(Integer.parseInt(text));
                            }
                        });
                if (bug == GroupBug.GIVES_A_PARTITION_TO_ALL && !partitions.contains(0)) {
                    partitions.add(0);
                }
                own();
            }
        }

        /** Checks that in one generation a partition has one owner. */
        private void own() {
            if (generation > ownersGeneration) {
                ownersGeneration = generation;
                owners.clear();
            }
            for (int partition : partitions) {
                Client before = generation == ownersGeneration ? owners.put(partition, this) : null;
                if (before != null && before != this) {
                    throw new AssertionError("partition " + partition + " has two owners in generation " + generation);
                }
            }
        }

        private void heartbeat() {
            machine.onHeartbeat(
                    new HeartbeatRequest()
                            .setGroupId(GROUP)
                            .setMemberId(memberId)
                            .setGenerationId(generation),
                    nowMs,
                    reply(this, response -> onError(ErrorCode.of(response.errorCode()))));
        }

        private void onError(ErrorCode error) {
            if (error == ErrorCode.REBALANCE_IN_PROGRESS) {
                release();
            } else if (error != ErrorCode.NONE) {
                reset();
            }
        }

        private void commit() {
            int partition = partitions.get(random.nextInt(partitions.size()));
            GroupOffset before = machine.offsets().get(GROUP, "t", partition);
            long offset = before == null ? 1 : before.offset() + random.nextInt(5);
            CommittedOffsets.Commit commit =
                    new CommittedOffsets.Commit("t", new Uuid(1, 1), partition, offset, 0, 0, "");
            machine.onOffsetCommit(
                    GROUP,
                    new CommittedOffsets.Committer(memberId, null, generation),
                    List.of(commit),
                    nowMs,
                    reply(this, outcomes -> {
                        ErrorCode error = outcomes.get(0);
                        if (error != ErrorCode.NONE && bug == GroupBug.LETS_FENCED_MEMBERS_COMMIT) {
                            error = machine.offsets()
                                    .commit(GROUP, List.of(commit), nowMs)
                                    .get(0);
                        }
                        if (error == ErrorCode.NONE) {
                            onCommitted(partition, offset);
                        } else {
                            onError(error);
                        }
                    }));
        }

        /**
         * Checks that only the owner of a partition commits: in the newest generation, or before a rebalance that is in
         * progress.
         */
        private void onCommitted(int partition, long offset) {
            if (generation != ownersGeneration || owners.get(partition) != this) {
                throw new AssertionError("client " + number + " of generation " + generation
                        + " committed to a partition of another, generation " + ownersGeneration);
            }
            committed.put(partition, offset);
        }

        void leave() {
            if (waits || memberId.isEmpty()) {
                return;
            }
            machine.onLeaveGroup(
                    GROUP,
                    List.of(new LeaveGroupRequest.MemberIdentity().setMemberId(memberId)),
                    nowMs,
                    reply(this, responses -> reset()));
        }
    }
}
