package io.journalq.server.broker;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.sasl.ScramCredential;
import io.journalq.common.sasl.ScramMechanism;
import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.BrokerSettings;
import io.journalq.server.control.Controller;
import io.journalq.server.control.Controller.ScramChange;
import io.journalq.server.control.MetadataPublisher;
import io.journalq.server.control.Outcome;
import io.journalq.server.directory.DataDirectories;
import io.journalq.server.directory.DataLocks;
import io.journalq.server.journal.file.SystemFileStore;
import io.journalq.server.memory.MemoryBudget;
import java.io.IOException;
import java.security.SecureRandom;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/**
 * Gives users their passwords in the metadata of a broker that is not running. The first user of a broker whose
 * listeners all require a login is created in this way. Used by one thread, which blocks.
 */
public final class OfflineUsers {
    private static final int SALT_SIZE_BYTES = 16;
    private static final int ITERATIONS = 8_192;
    private static final long POOL_DRAIN_MS = 10_000;

    /**
     * What happened to a user.
     *
     * @param existed whether the user existed
     * @param refusal why the user was not changed; null if it was
     */
    public record Result(String user, boolean existed, String refusal) {}

    private final BrokerConfig config;
    private final SecureRandom random = new SecureRandom();

    public OfflineUsers(BrokerConfig config) {
        this.config = config;
    }

    /** As {@link #add(String, byte[], List)}, for a user who can log in by each mechanism. */
    public boolean add(String user, byte[] password) throws IOException {
        return add(user, password, List.of(ScramMechanism.values()));
    }

    /**
     * Creates a user, or gives an existing one another password.
     *
     * @param password in UTF-8, not empty
     * @param mechanisms by which the user can log in
     * @return whether the user existed
     * @throws IOException if a broker is running or belongs to a cluster, if the name is refused, or if the metadata
     *     cannot be written; the message is one line for the operator
     */
    public boolean add(String user, byte[] password, List<ScramMechanism> mechanisms) throws IOException {
        List<ScramCredential> credentials = new ArrayList<>();
        for (ScramMechanism mechanism : mechanisms) {
            byte[] salt = new byte[SALT_SIZE_BYTES];
            random.nextBytes(salt);
            credentials.add(
                    mechanism.credential(mechanism.saltedPassword(password, salt, ITERATIONS), salt, ITERATIONS));
        }
        Result result =
                change(List.of(new ScramChange(user, credentials, List.of()))).get(0);
        if (result.refusal() != null) {
            throw new IOException(result.refusal());
        }
        return result.existed();
    }

    /**
     * Gives users the keys of passwords that another broker of the Kafka protocol has used.
     *
     * @param credentials by the name of the user; those of the same mechanism are replaced
     * @return what happened to each user, in the order of their names
     * @throws IOException if a broker is running or belongs to a cluster, or if the metadata cannot be written; the message
     *     is one line for the operator
     */
    public List<Result> addAll(SortedMap<String, List<ScramCredential>> credentials) throws IOException {
        List<ScramChange> changes = new ArrayList<>();
        credentials.forEach((user, keys) -> changes.add(new ScramChange(user, keys, List.of())));
        return change(changes);
    }

    private List<Result> change(List<ScramChange> changes) throws IOException {
        if (config.quorumListener().isPresent()) {
            throw new IOException("users cannot be added to a broker with quorum.listener while it is stopped");
        }
        DataLocks locks = DataLocks.acquire(config.dataDirectories());
        BlockingPool blockingPool = new BlockingPool("journalq-blocking");
        try {
            return change(changes, blockingPool);
        } finally {
            blockingPool.drain(POOL_DRAIN_MS);
            locks.close();
        }
    }

    private List<Result> change(List<ScramChange> changes, BlockingPool blockingPool) throws IOException {
        ControllerOpener.Environment environment = new ControllerOpener.Environment(
                new SystemFileStore(),
                blockingPool,
                Controller.newThread(),
                MemoryBudget.of(
                        Runtime.getRuntime().maxMemory(),
                        part -> config.get(BrokerSettings.MEMORY_MAX_BYTES.get(part.label()))),
                Clock.systemUTC(),
                () -> Uuid.random(random),
                System::nanoTime,
                CompletableFuture::join);
        MetadataPublisher metadata = new MetadataPublisher(Runnable::run);
        try {
            DataDirectories directories = MetadataLogOpener.openDirectories(environment.store(), config);
            ControllerOpener opener = new ControllerOpener(config, environment, directories);
            opener.recoverFiles();
            try (Controller controller = opener.start(opener.openLog(null, null), metadata, null)) {
                List<Boolean> existed = changes.stream()
                        .map(change ->
                                !metadata.current().scram().of(change.user()).isEmpty())
                        .toList();
                List<Outcome> outcomes = controller.alterScram(changes).join();
                List<Result> results = new ArrayList<>();
                for (int i = 0; i < changes.size(); i++) {
                    Outcome outcome = outcomes.get(i);
                    results.add(new Result(
                            changes.get(i).user(),
                            existed.get(i),
                            outcome.error() == ErrorCode.NONE ? null : outcome.reason()));
                }
                return results;
            }
        } catch (CompletionException failure) {
            throw new IOException(
                    "cannot change the metadata: " + failure.getCause().getMessage(), failure);
        } finally {
            environment.thread().shutdown();
        }
    }
}
