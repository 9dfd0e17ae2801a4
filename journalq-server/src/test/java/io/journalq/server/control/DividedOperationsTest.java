package io.journalq.server.control;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.common.id.Uuid;
import io.journalq.server.journal.Journal;
import io.journalq.server.journal.file.MemoryFileStore;
import io.journalq.server.metadata.Decision;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.MetadataMachine;
import io.journalq.server.metadata.TestBrokers;
import io.journalq.server.metadata.TopicSpec;
import io.journalq.server.metadata.partition.PartitionImage;
import io.journalq.server.metadata.security.Acl;
import io.journalq.server.metadata.security.AclDecision.Verdict;
import io.journalq.server.metadata.security.AclFilter;
import io.journalq.server.metadata.security.AclOperation;
import io.journalq.server.metadata.security.AclPattern;
import io.journalq.server.metadata.security.AclPermission;
import io.journalq.server.metadata.security.AclResource;
import io.journalq.server.metadata.security.AclResourceType;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Operations that are too large for one batch, such as one that changes 2,500 partitions. */
class DividedOperationsTest {
    private static final int SELF = 1;
    private static final int LEADER = 2;
    private static final int FOLLOWER = 3;
    private static final int PARTITIONS = 2_500;
    /** As many as a request can remove. */
    private static final int MAX_REMOVED_ACLS = 10_000;

    private static final String EVE = "User:eve";
    private static final MetadataMachine.Limits LIMITS = new MetadataMachine.Limits(SELF, 1, PARTITIONS, PARTITIONS);

    private final AtomicLong ids = new AtomicLong();
    private final MetadataPublisher publisher = new MetadataPublisher(Runnable::run);
    private final List<MetadataImage> published = new CopyOnWriteArrayList<>();
    private final MetadataMachine other = new MetadataMachine(LIMITS);
    private ElectedLog log;
    private Controller controller;

    @BeforeEach
    void start() throws Exception {
        Journal journal = Journal.openWhole(
                new MemoryFileStore(), Path.of("metadata-0"), LocalMetadataLog.JOURNAL_CONFIG, Runnable::run);
        log = new ElectedLog(new LocalMetadataLog(SELF, journal, Clock.systemUTC(), UnpooledByteBufAllocator.DEFAULT));
        controller = new Controller(
                new MetadataReplica(new MetadataMachine(LIMITS), publisher),
                log,
                () -> new Uuid(1, ids.incrementAndGet()),
                Controller.newThread());
        controller.watchBrokers(() -> 0, 3_000, 400, (nodeId, partitions) -> new CompletableFuture<>());
        controller.start(clusterId -> {}).join();
        commitOfOther(other.format(new Uuid(7, 7)));
        for (int nodeId = SELF; nodeId <= FOLLOWER; nodeId++) {
            commitOfOther(other.registrations().register(TestBrokers.registration(nodeId), -1));
        }
        begin(3);
        controller
                .createTopics(
                        List.of(new TopicSpec(
                                "orders",
                                -1,
                                -1,
                                Collections.nCopies(PARTITIONS, List.of(LEADER, FOLLOWER)),
                                Map.of())),
                        false)
                .get(20, TimeUnit.SECONDS);
        publisher.addListener(delta -> published.add(delta.now()));
    }

    @AfterEach
    void close() throws IOException {
        controller.close();
    }

    private void commitOfOther(Decision decision) {
        long offset = publisher.current().version();
        other.replay(decision.records());
        log.commit(new MetadataBatch(offset, decision.records()));
    }

    /** Elects this broker, and returns when it has done what it does at the begin of a term. */
    private void begin(int term) throws Exception {
        log.elect(SELF, term, SELF);
        controller.allocateProducerIds(1).get(20, TimeUnit.SECONDS);
        controller.allocateProducerIds(1).get(20, TimeUnit.SECONDS);
    }

    private CompletableFuture<BrokerHeartbeat.Response> heartbeat(int nodeId, boolean wantsFence) {
        MetadataImage image = publisher.current();
        return controller.heartbeat(new BrokerHeartbeat(
                nodeId, image.broker(nodeId).epoch(), image.version(), wantsFence, false, List.of()));
    }

    private void fence(int nodeId) throws Exception {
        assertThat(heartbeat(nodeId, true).get(20, TimeUnit.SECONDS).fenced()).isTrue();
    }

    private static long led(MetadataImage image, int nodeId) {
        return image.topic("orders").partitions().stream()
                .filter(partition -> partition.leader() == nodeId)
                .count();
    }

    @Test
    void shouldFenceABrokerLastWhenManyPartitionsChange() throws Exception {
        fence(LEADER);

        assertThat(published).hasSize(3);
        assertThat(published).extracting(image -> led(image, LEADER)).containsExactly(1_500L, 500L, 0L);
        assertThat(published).extracting(image -> image.broker(LEADER).fenced()).containsExactly(false, false, true);
        // Otherwise, leaders would propose it as an in-sync replica again.
        assertThat(published).extracting(image -> image.stays(LEADER)).containsOnly(false);
        assertThat(led(publisher.current(), FOLLOWER)).isEqualTo(PARTITIONS);
    }

    @Test
    void shouldNotFenceABrokerWhenOnlyTheFirstBatchIsCommitted() throws Exception {
        // given
        log.succeeding = 1;
        log.failure = new IOException("planted");

        // when
        assertThatThrownBy(() -> heartbeat(LEADER, true).get(20, TimeUnit.SECONDS))
                .hasMessageContaining("may or may not be committed");

        // then
        assertThat(published).hasSize(1);
        assertThat(publisher.current().broker(LEADER).fenced()).isFalse();
        assertThat(led(publisher.current(), FOLLOWER)).isEqualTo(1_000);

        // and when it is repeated
        log.failure = null;
        fence(LEADER);
        assertThat(led(publisher.current(), FOLLOWER)).isEqualTo(PARTITIONS);
    }

    @Test
    void shouldGoOnWithABrokerWhenItLivesAndOnlyTheFirstBatchThatFencesItIsCommitted() throws Exception {
        // given
        log.succeeding = 1;
        log.failure = new IOException("planted");
        assertThatThrownBy(() -> heartbeat(LEADER, true).get(20, TimeUnit.SECONDS))
                .hasMessageContaining("may or may not be committed");
        assertThat(publisher.current().stays(LEADER)).isFalse();
        log.failure = null;

        // when
        heartbeat(LEADER, false).get(20, TimeUnit.SECONDS);

        // then
        assertThat(publisher.current().stays(LEADER)).isTrue();
        assertThat(led(publisher.current(), LEADER)).isEqualTo(PARTITIONS - 1_000);
    }

    @Test
    void shouldElectTheOtherLeadersInTheNextTermWhenTheFirstBatchOfAnUnfencingIsCommitted() throws Exception {
        // given partitions that only one broker can lead
        fence(FOLLOWER);
        fence(LEADER);
        assertThat(led(publisher.current(), PartitionImage.NO_LEADER)).isEqualTo(PARTITIONS);

        // when
        log.succeeding = 1;
        log.failure = new IOException("planted");
        assertThatThrownBy(() -> heartbeat(LEADER, false).get(20, TimeUnit.SECONDS))
                .hasMessageContaining("may or may not be committed");

        // then
        assertThat(publisher.current().broker(LEADER).fenced()).isFalse();
        assertThat(led(publisher.current(), LEADER)).isEqualTo(1_000);

        // and when the controller is elected again
        log.failure = null;
        log.elect(FOLLOWER, 4, SELF);
        begin(5);
        assertThat(led(publisher.current(), LEADER)).isEqualTo(PARTITIONS);
    }

    @Test
    void shouldRemoveManyAclsInBatchesThatGiveNobodyRights() throws Exception {
        // given a quorum that refuses batches of more than 1 MiB
        List<Acl> acls = new ArrayList<>();
        for (int i = 0; i < MAX_REMOVED_ACLS / 2; i++) {
            AclResource topic = new AclResource(AclResourceType.TOPIC, AclPattern.LITERAL, "a".repeat(100) + i);
            acls.add(new Acl(topic, Acl.EVERY_USER, "10.0.0.7", AclOperation.READ, AclPermission.DENY));
            acls.add(new Acl(topic, EVE, Acl.EVERY_HOST, AclOperation.READ, AclPermission.ALLOW));
        }
        controller.createAcls(acls).get(20, TimeUnit.SECONDS);
        published.clear();

        // when
        List<List<Acl>> removed =
                controller.deleteAcls(List.of(AclFilter.EVERY_ACL)).get(20, TimeUnit.SECONDS);

        // then
        assertThat(removed.get(0)).hasSize(MAX_REMOVED_ACLS);
        assertThat(publisher.current().acls().size()).isZero();
        assertThat(published).hasSizeGreaterThan(1).allSatisfy(image -> assertThat(acls)
                .extracting(Acl::resource)
                .noneMatch(topic -> image.acls()
                                .decide(EVE, "10.0.0.7", AclOperation.READ, topic.type(), topic.name())
                                .verdict()
                        == Verdict.ALLOWED));
    }

    @Test
    void shouldNameAnAclThatTwoFiltersSelectOnce() throws Exception {
        Acl acl = new Acl(
                new AclResource(AclResourceType.TOPIC, AclPattern.LITERAL, "orders"),
                EVE,
                Acl.EVERY_HOST,
                AclOperation.READ,
                AclPermission.ALLOW);
        controller.createAcls(List.of(acl)).get(20, TimeUnit.SECONDS);

        assertThat(controller
                        .deleteAcls(List.of(AclFilter.EVERY_ACL, AclFilter.EVERY_ACL))
                        .get(20, TimeUnit.SECONDS))
                .containsExactly(List.of(acl), List.of());
    }
}
