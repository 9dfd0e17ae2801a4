package io.journalq.server.broker;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.api.Feature;
import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.BrokerSettings;
import io.journalq.server.config.ListenerAddress;
import io.journalq.server.control.ControllerOperations;
import io.journalq.server.control.MetadataPublisher;
import io.journalq.server.directory.DataDirectories;
import io.journalq.server.metadata.BrokerImage;
import io.journalq.server.metadata.BrokerRegistration;
import io.journalq.server.metadata.BrokerRegistration.FeatureLevels;
import io.journalq.server.metadata.ClusterVersion;
import io.journalq.server.metadata.MetadataImage;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/** Registers a broker in the metadata. Used by the thread that opens the broker. */
final class BrokerLifecycle {
    private static final long UNKNOWN = -1;

    private final BrokerConfig config;
    private final DataDirectories directories;
    private final MetadataPublisher metadata;
    private final ControllerOperations controller;
    /** Identifies this process. */
    private final Uuid incarnationId;
    /** Null for a broker that is alone. */
    private final RegistrationFile registrationFile;

    private final boolean keepsRecords;

    /**
     * Creates an instance.
     *
     * @param keepsRecords whether all records that the last process had acknowledged are still there. Otherwise, only
     *     those are that were on the disk
     * @param registrationFile null for a broker that is alone
     */
    BrokerLifecycle(
            BrokerConfig config,
            DataDirectories directories,
            MetadataPublisher metadata,
            ControllerOperations controller,
            Supplier<Uuid> ids,
            boolean keepsRecords,
            RegistrationFile registrationFile) {
        this.keepsRecords = keepsRecords;
        this.registrationFile = registrationFile;
        this.config = config;
        this.directories = directories;
        this.metadata = metadata;
        this.controller = controller;
        this.incarnationId = ids.get();
    }

    /**
     * Registers this process of the broker.
     *
     * @param advertised the addresses that clients are given
     * @return completed when the registration is committed; fails with one line for the operator if it is refused
     */
    CompletableFuture<Void> register(List<ListenerAddress> advertised) {
        BrokerRegistration registration = new BrokerRegistration(
                config.get(BrokerSettings.NODE_ID),
                incarnationId,
                advertised,
                config.get(BrokerSettings.BROKER_RACK),
                supportedFeatures(),
                directories.ids());
        long previousEpoch = registrationFile == null ? UNKNOWN : registrationFile.epoch();
        return controller
                .registerBroker(
                        registration,
                        keepsRecords || previousEpoch == UNKNOWN
                                ? previousEpoch
                                : BrokerRegistration.afterPowerLoss(previousEpoch))
                .thenCompose(outcome -> outcome.error() == ErrorCode.NONE
                        ? CompletableFuture.completedFuture(null)
                        : CompletableFuture.failedFuture(new IOException(outcome.reason())));
    }

    /**
     * Registers this process in its cluster, with the addresses of the configuration.
     *
     * @return completed when the metadata of this broker includes the registration, and with it everything that the
     *     cluster had decided before
     */
    CompletableFuture<MetadataImage> join() {
        return joinAgain(UNKNOWN);
    }

    /**
     * Registers this process in its cluster again. The metadata of this broker can still have the registration that was
     * replaced. The next process must not name that one.
     *
     * @param replacedEpoch of that registration; -1 if the metadata of this broker have none of this process
     * @return as of {@link #join}
     */
    CompletableFuture<MetadataImage> joinAgain(long replacedEpoch) {
        return register(config.advertisedFor(config.listeners()))
                .thenCompose(committed -> metadata.whenPublished(image -> isRegisteredAfter(replacedEpoch, image)))
                .thenApply(image -> {
                    registrationFile.write(registered(image).epoch());
                    return image;
                });
    }

    private boolean isRegisteredAfter(long epoch, MetadataImage image) {
        BrokerImage broker = registered(image);
        return broker != null && broker.epoch() > epoch;
    }

    /** This broker, if this process of it is registered in an image; otherwise null. */
    BrokerImage registered(MetadataImage image) {
        BrokerImage broker = image.broker(config.get(BrokerSettings.NODE_ID));
        return broker != null && broker.registration().incarnationId().equals(incarnationId) ? broker : null;
    }

    private static List<FeatureLevels> supportedFeatures() {
        List<FeatureLevels> features = new ArrayList<>();
        features.add(
                new FeatureLevels(ClusterVersion.NAME, (short) ClusterVersion.FIRST, (short) ClusterVersion.FIRST));
        for (Feature feature : Feature.values()) {
            features.add(new FeatureLevels(feature.featureName(), (short) 0, feature.highestLevel()));
        }
        return features;
    }
}
