package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.ConfigOrigin;
import io.journalq.server.control.ControllerOperations;
import io.journalq.server.control.MetadataPublisher;
import io.journalq.server.control.MetadataReplica;
import io.journalq.server.control.Outcome;
import io.journalq.server.journal.file.MemoryFileStore;
import io.journalq.server.metadata.BrokerRegistration;
import io.journalq.server.metadata.Decision;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.MetadataMachine;
import io.journalq.server.metadata.TestBrokers;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A broker whose registration was replaced by one of an earlier process, and that registers again. */
class BrokerLifecycleTest {
    private static final int SELF = 1;
    private static final Path DIRECTORY = Path.of("data");

    private final MemoryFileStore store = new MemoryFileStore();
    private final MetadataPublisher metadata = new MetadataPublisher(Runnable::run);
    private final MetadataMachine.Limits limits = new MetadataMachine.Limits(SELF, 1, 100, 1_000);
    private final MetadataMachine decider = new MetadataMachine(limits);
    private final MetadataReplica replica = new MetadataReplica(new MetadataMachine(limits), metadata);
    private final RegistrationFile file = new RegistrationFile(store, List.of(DIRECTORY), directory -> true);
    private BrokerLifecycle lifecycle;

    @BeforeEach
    void create() throws Exception {
        BrokerConfig config = BrokerConfig.defaults()
                .with("node.id", Integer.toString(SELF), ConfigOrigin.COMMAND_LINE)
                .with("data.directories", DIRECTORY.toString(), ConfigOrigin.COMMAND_LINE);
        lifecycle = new BrokerLifecycle(
                config,
                MetadataLogOpener.openDirectories(store, config),
                metadata,
                registering(),
                () -> TestBrokers.registration(SELF).incarnationId(),
                true,
                file);
    }

    /** A controller that registers every process. Its decisions are known here later. */
    private static ControllerOperations registering() {
        return (ControllerOperations) Proxy.newProxyInstance(
                ControllerOperations.class.getClassLoader(),
                new Class<?>[] {ControllerOperations.class},
                (proxy, method, arguments) -> {
                    if (method.getName().equals("registerBroker")) {
                        return CompletableFuture.completedFuture(new Outcome(ErrorCode.NONE, null, null));
                    }
                    throw new AssertionError("unexpected call of " + method.getName());
                });
    }

    /** Commits the registration of a process. */
    private long register(Uuid incarnation) {
        BrokerRegistration known = TestBrokers.registration(SELF);
        Decision decision = decider.registrations()
                .register(
                        new BrokerRegistration(
                                SELF,
                                incarnation,
                                known.listeners(),
                                known.rack(),
                                known.features(),
                                known.logDirectories()),
                        -1);
        commit(decision);
        return metadata.current().broker(SELF).epoch();
    }

    private void commit(Decision decision) {
        decider.replay(decision.records());
        replica.replay(decision.records());
    }

    @Test
    void shouldNoteTheNewRegistrationWhenItsMetadataStillHaveTheReplacedOne() {
        // given
        commit(decider.beginTerm(1));
        Uuid self = TestBrokers.registration(SELF).incarnationId();
        long replaced = register(self);
        assertThat(lifecycle.join()).isCompleted();
        assertThat(file.epoch()).isEqualTo(replaced);

        // when its metadata lag behind
        CompletableFuture<MetadataImage> joined = lifecycle.joinAgain(replaced);
        assertThat(joined).isNotDone();
        register(new Uuid(9, 99));
        assertThat(joined).isNotDone();
        long now = register(self);

        // then
        assertThat(joined).isCompleted();
        assertThat(now).isGreaterThan(replaced);
        assertThat(file.epoch()).isEqualTo(now);
    }
}
