package io.journalq.server.group;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.MessageReader;
import io.journalq.common.protocol.MessageWriter;
import io.journalq.common.protocol.message.ConsumerGroupHeartbeatRequest;
import io.journalq.common.protocol.message.ConsumerGroupHeartbeatResponse;
import io.journalq.common.protocol.message.ConsumerProtocolAssignment;
import io.journalq.common.protocol.message.ConsumerProtocolSubscription;
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
import io.journalq.server.group.consumer.EmbeddedProtocol;
import io.journalq.server.group.consumer.Topics;
import io.journalq.server.group.model.Group.Origin;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;

/**
 * One group with clients of both protocols that come and go, in one thread and simulated time. Some clients of the
 * classic protocol rebalance cooperatively. The coordinator crashes and replays its records. The seed determines
 * everything.
 *
 * <p>After every event, no partition is used by two live clients.
 */
final class MigrationSimulation {
    private static final String GROUP = "g";
    private static final Topics.Topic TOPIC = new Topics.Topic(new Uuid(7, 1), "t", 7);
    private static final GroupLimits LIMITS =
            new GroupLimits(100, 1, 1_000_000, 0, 100, Long.MAX_VALUE, Long.MAX_VALUE / 4);
    private static final int TIMEOUT_MS = 60_000;
    private static final int STEP_MS = 50;

    private final Random random;
    private final List<byte[][]> journal = new ArrayList<>();
    private final Set<Client> clients = new TreeSet<>();
    private GroupMachine machine;
    private long nowMs = 1_000_000;
    private int nextId;

    MigrationSimulation(long seed) {
        random = new Random(seed);
        load();
    }

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
        for (byte[][] record : journal) {
            loaded[0].replay(GroupRecords.TYPES.decode(
                    Unpooled.wrappedBuffer(record[0]), record[1] == null ? null : Unpooled.wrappedBuffer(record[1])));
        }
        machine = loaded[0];
        machine.onLoaded(nowMs);
        machine.onTopics(new OneTopic());
        clients.forEach(Client::onCoordinatorLost);
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

    /** Runs random events. Then all clients stay until the whole topic is in use. */
    void run(int events) {
        for (int i = 0; i < events; i++) {
            int what = random.nextInt(100);
            if (what < 4 && clients.size() < 5) {
                clients.add(random.nextBoolean() ? new Classic(nextId++) : new Modern(nextId++));
            } else if (what < 6 && !clients.isEmpty()) {
                Client gone = pick();
                clients.remove(gone);
                gone.leave();
            } else if (what < 7) {
                load();
            } else if (!clients.isEmpty()) {
                pick().act();
            }
            pass();
        }
        clients.add(new Classic(nextId++));
        for (int i = 0; i < 2_000 && !isSettled(); i++) {
            clients.forEach(Client::act);
            pass();
        }
        if (!isSettled()) {
            throw new AssertionError("did not settle: " + clients + " in a group that is "
                    + machine.list().get(0).groupType() + " and "
                    + machine.list().get(0).groupState());
        }
    }

    /** Whether members of both protocols appeared in the records: only then is the run meaningful. */
    String kind() {
        return machine.list().get(0).groupType();
    }

    private Client pick() {
        return List.copyOf(clients).get(random.nextInt(clients.size()));
    }

    private void pass() {
        nowMs += STEP_MS;
        machine.onTick(nowMs);
        Set<Integer> used = new TreeSet<>();
        for (Client client : clients) {
            for (int partition : client.owned) {
                if (!used.add(partition)) {
                    throw new AssertionError("partition " + partition + " has two users: " + clients);
                }
            }
        }
    }

    private boolean isSettled() {
        return clients.stream().mapToInt(client -> client.owned.size()).sum() == TOPIC.partitionCount()
                && clients.stream().allMatch(Client::isStable);
    }

    /** A client and the partitions that it uses. */
    private abstract static class Client implements Comparable<Client> {
        final int number;
        Set<Integer> owned = new TreeSet<>();

        Client(int number) {
            this.number = number;
        }

        abstract void act();

        abstract void leave();

        abstract void onCoordinatorLost();

        abstract boolean isStable();

        @Override
        public int compareTo(Client other) {
            return Integer.compare(number, other.number);
        }

        @Override
        public String toString() {
            return getClass().getSimpleName() + number + owned;
        }
    }

    /** A reply that may come later, if the client still waits for it. */
    private static <T> Reply<T> reply(Consumer<T> taken) {
        return new Reply<>() {
            @Override
            public void send(T response) {
                taken.accept(response);
            }

            @Override
            public void fail(ErrorCode error) {
                throw new AssertionError("the machine itself never fails: " + error);
            }
        };
    }

    /** Uses the classic protocol and revokes only partitions that are assigned to others. */
    private final class Classic extends Client {
        private String memberId = "";
        private int generation = -1;
        private boolean wantsToJoin = true;
        /** Incremented with each request, so that responses to abandoned requests are recognized. */
        private int asked;

        private boolean waits;

        Classic(int number) {
            super(number);
        }

        @Override
        void act() {
            if (waits) {
                return;
            }
            if (wantsToJoin) {
                join();
                return;
            }
            machine.onHeartbeat(
                    new HeartbeatRequest()
                            .setGroupId(GROUP)
                            .setMemberId(memberId)
                            .setGenerationId(generation),
                    nowMs,
                    reply(response -> onError(ErrorCode.of(response.errorCode()))));
        }

        private void onError(ErrorCode error) {
            switch (error) {
                case NONE -> {}
                case REBALANCE_IN_PROGRESS -> wantsToJoin = true;
                case UNKNOWN_MEMBER_ID, ILLEGAL_GENERATION -> {
                    if (error == ErrorCode.UNKNOWN_MEMBER_ID) {
                        memberId = "";
                    }
                    generation = -1;
                    owned = new TreeSet<>();
                    wantsToJoin = true;
                }
                default -> throw new AssertionError("unexpected: " + error);
            }
        }

        private void join() {
            int request = ++asked;
            waits = true;
            machine.onJoinGroup(
                    new Origin("c", "h"),
                    (short) 9,
                    new JoinGroupRequest()
                            .setGroupId(GROUP)
                            .setMemberId(memberId)
                            .setSessionTimeoutMs(TIMEOUT_MS)
                            .setRebalanceTimeoutMs(TIMEOUT_MS)
                            .setProtocolType("consumer")
                            .setProtocols(List.of(new JoinGroupRequest.JoinGroupRequestProtocol()
                                    .setName("cooperative")
                                    .setMetadata(subscription()))),
                    nowMs,
                    reply(response -> {
                        if (request == asked) {
                            onJoined(response);
                        }
                    }));
        }

        private ByteBuf subscription() {
            MessageWriter out = new MessageWriter(ByteBufAllocator.DEFAULT);
            out.writeShort((short) 2);
            new ConsumerProtocolSubscription()
                    .setTopics(List.of(TOPIC.name()))
                    .setOwnedPartitions(List.of(new ConsumerProtocolSubscription.TopicPartition()
                            .setTopic(TOPIC.name())
                            .setPartitions(List.copyOf(owned))))
                    .setGenerationId(generation)
                    .write(out, (short) 2);
            return Unpooled.wrappedBuffer(bytes((ByteBuf) out.finish().get(0)));
        }

        private void onJoined(JoinGroupResponse response) {
            waits = false;
            ErrorCode error = ErrorCode.of(response.errorCode());
            if (error == ErrorCode.MEMBER_ID_REQUIRED) {
                memberId = response.memberId();
            } else if (error != ErrorCode.NONE) {
                onError(error);
            } else {
                memberId = response.memberId();
                generation = response.generationId();
                wantsToJoin = false;
                sync(response);
            }
        }

        private void sync(JoinGroupResponse joined) {
            List<SyncGroupRequest.SyncGroupRequestAssignment> assignments = new ArrayList<>();
            if (joined.leader().equals(memberId)) {
                assign(joined)
                        .forEach((member, partitions) ->
                                assignments.add(new SyncGroupRequest.SyncGroupRequestAssignment()
                                        .setMemberId(member)
                                        .setAssignment(assignment(partitions))));
            }
            int request = ++asked;
            waits = true;
            machine.onSyncGroup(
                    new SyncGroupRequest()
                            .setGroupId(GROUP)
                            .setMemberId(memberId)
                            .setGenerationId(generation)
                            .setProtocolType(joined.protocolType())
                            .setProtocolName(joined.protocolName())
                            .setAssignments(assignments),
                    nowMs,
                    reply(response -> {
                        if (request == asked) {
                            onSynced(response);
                        }
                    }));
        }

        /** Balances partitions, and does not assign a partition that another member still uses. */
        private Map<String, Set<Integer>> assign(JoinGroupResponse joined) {
            Map<Integer, String> users = new TreeMap<>();
            Map<String, Set<Integer>> targets = new TreeMap<>();
            for (JoinGroupResponse.JoinGroupResponseMember member : joined.members()) {
                targets.put(member.memberId(), new TreeSet<>());
                EmbeddedProtocol.subscription(ClassicGroup.bytes(member.metadata()))
                        .orElseThrow()
                        .ownedPartitions()
                        .forEach(topic ->
                                topic.partitions().forEach(partition -> users.put(partition, member.memberId())));
            }
            List<String> members = List.copyOf(targets.keySet());
            int most = (TOPIC.partitionCount() + members.size() - 1) / members.size();
            users.forEach((partition, member) -> {
                if (targets.get(member).size() < most) {
                    targets.get(member).add(partition);
                }
            });
            for (int partition = 0; partition < TOPIC.partitionCount(); partition++) {
                int wanted = partition;
                if (targets.values().stream().noneMatch(set -> set.contains(wanted)) && !users.containsKey(wanted)) {
                    targets.values().stream()
                            .min((left, right) -> Integer.compare(left.size(), right.size()))
                            .orElseThrow()
                            .add(wanted);
                }
            }
            return targets;
        }

        private static ByteBuf assignment(Set<Integer> partitions) {
            MessageWriter out = new MessageWriter(ByteBufAllocator.DEFAULT);
            out.writeShort((short) 1);
            new ConsumerProtocolAssignment()
                    .setAssignedPartitions(List.of(new ConsumerProtocolAssignment.TopicPartition()
                            .setTopic(TOPIC.name())
                            .setPartitions(List.copyOf(partitions))))
                    .write(out, (short) 1);
            return Unpooled.wrappedBuffer(bytes((ByteBuf) out.finish().get(0)));
        }

        private void onSynced(SyncGroupResponse response) {
            waits = false;
            ErrorCode error = ErrorCode.of(response.errorCode());
            if (error != ErrorCode.NONE) {
                onError(error);
                return;
            }
            Set<Integer> assigned = new TreeSet<>();
            if (response.assignment().isReadable()) {
                MessageReader in = new MessageReader(response.assignment().duplicate());
                short version = in.readShort();
                ConsumerProtocolAssignment.read(in, version)
                        .assignedPartitions()
                        .forEach(topic -> assigned.addAll(topic.partitions()));
            }
            // Revokes partitions that are no longer assigned. The other members learn of it when this one joins.
            wantsToJoin = !assigned.containsAll(owned);
            owned = assigned;
        }

        @Override
        void leave() {
            machine.onLeaveGroup(
                    GROUP,
                    List.of(new LeaveGroupRequest.MemberIdentity().setMemberId(memberId)),
                    nowMs,
                    reply(responses -> {}));
        }

        @Override
        void onCoordinatorLost() {
            if (waits) {
                asked++;
                waits = false;
                wantsToJoin = true;
            }
        }

        @Override
        boolean isStable() {
            return !waits && !wantsToJoin;
        }
    }

    /** Uses the consumer protocol. */
    private final class Modern extends Client {
        private final String memberId;
        private int epoch;
        private boolean tellsOwned;

        Modern(int number) {
            super(number);
            memberId = "modern-" + number;
        }

        @Override
        void act() {
            ConsumerGroupHeartbeatRequest request = new ConsumerGroupHeartbeatRequest()
                    .setGroupId(GROUP)
                    .setMemberId(memberId)
                    .setMemberEpoch(epoch);
            if (epoch == 0) {
                request.setRebalanceTimeoutMs(TIMEOUT_MS)
                        .setSubscribedTopicNames(List.of(TOPIC.name()))
                        .setTopicPartitions(List.of());
            } else if (tellsOwned) {
                request.setTopicPartitions(List.of(new ConsumerGroupHeartbeatRequest.TopicPartitions()
                        .setTopicId(TOPIC.id())
                        .setPartitions(List.copyOf(owned))));
            }
            machine.onConsumerHeartbeat(new Origin("m", "h"), (short) 1, request, nowMs, reply(this::onResponse));
        }

        private void onResponse(ConsumerGroupHeartbeatResponse response) {
            tellsOwned = false;
            switch (ErrorCode.of(response.errorCode())) {
                case NONE -> {
                    epoch = response.memberEpoch();
                    if (response.assignment() != null) {
                        Set<Integer> assigned = new TreeSet<>();
                        response.assignment().topicPartitions().forEach(topic -> assigned.addAll(topic.partitions()));
                        tellsOwned = !assigned.equals(owned);
                        owned = assigned;
                    }
                }
                case UNKNOWN_MEMBER_ID, FENCED_MEMBER_EPOCH, GROUP_ID_NOT_FOUND -> {
                    epoch = 0;
                    owned = new TreeSet<>();
                }
                default -> throw new AssertionError("unexpected: " + response);
            }
        }

        @Override
        void leave() {
            machine.onConsumerHeartbeat(
                    new Origin("m", "h"),
                    (short) 1,
                    new ConsumerGroupHeartbeatRequest()
                            .setGroupId(GROUP)
                            .setMemberId(memberId)
                            .setMemberEpoch(-1),
                    nowMs,
                    reply(response -> {}));
        }

        @Override
        void onCoordinatorLost() {
            tellsOwned = epoch > 0;
        }

        @Override
        boolean isStable() {
            return epoch > 0 && !tellsOwned;
        }
    }

    /** The topics of the cluster. */
    private static final class OneTopic implements Topics {
        @Override
        public Topic byName(String name) {
            return name.equals(TOPIC.name()) ? TOPIC : null;
        }

        @Override
        public Topic byId(Uuid id) {
            return id.equals(TOPIC.id()) ? TOPIC : null;
        }

        @Override
        public Collection<Topic> all() {
            return List.of(TOPIC);
        }
    }
}
