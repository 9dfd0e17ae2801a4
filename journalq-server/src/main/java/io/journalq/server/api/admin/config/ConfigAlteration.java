package io.journalq.server.api.admin.config;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.config.BrokerSettings;
import io.journalq.server.config.ConfigKey;
import io.journalq.server.config.ConfigKeys;
import io.journalq.server.control.Controller;
import io.journalq.server.control.Controller.ConfigChange;
import io.journalq.server.control.Controller.ResourceChange;
import io.journalq.server.control.MetadataPublisher;
import io.journalq.server.control.Outcome;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.ResourceId;
import io.journalq.server.metadata.ResourceId.Kind;
import io.journalq.server.metadata.TopicImage;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * What both APIs that change settings have in common: changes go to the controller together, what cannot be changed gets
 * its error at once, and every resource gets its outcome in the order asked. Any thread.
 */
public final class ConfigAlteration {
    private final int nodeId;
    private final MetadataPublisher metadata;
    private final Controller controller;

    /** @param nodeId this broker */
    public ConfigAlteration(int nodeId, MetadataPublisher metadata, Controller controller) {
        this.nodeId = nodeId;
        this.metadata = metadata;
        this.controller = controller;
    }

    /**
     * Whose settings are to change, and how.
     *
     * @param refusal why not; null when they may
     * @param changes texts by name, null for back to the default; asked for on the controller's thread, where {@link
     *     #set} is what all changes before led to
     */
    record Plan(byte type, String name, Outcome refusal, Supplier<Map<String, String>> changes) {}

    /**
     * Changes settings.
     *
     * @param resources as asked
     * @param plan for each, what to do
     */
    <R> CompletableFuture<List<Outcome>> alter(List<R> resources, boolean validateOnly, Function<R, Plan> plan) {
        List<Outcome> outcomes = new ArrayList<>();
        List<ConfigChange> ofTopics = new ArrayList<>();
        List<Integer> topicPlaces = new ArrayList<>();
        List<ResourceChange> ofOthers = new ArrayList<>();
        List<Integer> otherPlaces = new ArrayList<>();
        for (R resource : resources) {
            Plan planned = plan.apply(resource);
            Outcome refusal = ConfigResource.problem(planned.type(), planned.name(), nodeId);
            outcomes.add(refusal == null ? planned.refusal() : refusal);
            if (outcomes.get(outcomes.size() - 1) != null) {
                continue;
            }
            if (planned.type() == ConfigResource.TOPIC) {
                topicPlaces.add(outcomes.size() - 1);
                ofTopics.add(new ConfigChange(planned.name(), planned.changes()));
            } else {
                otherPlaces.add(outcomes.size() - 1);
                ofOthers.add(new ResourceChange(idOf(planned.type(), planned.name()), planned.changes()));
            }
        }
        CompletableFuture<Void> topics =
                gather(controller.alterTopicConfigs(ofTopics, validateOnly), topicPlaces, outcomes);
        CompletableFuture<Void> others =
                gather(controller.alterResourceConfigs(ofOthers, validateOnly), otherPlaces, outcomes);
        return topics.thenCombine(others, (one, other) -> outcomes);
    }

    /** Both write different places of the list, and the list is read when both are done. */
    private static CompletableFuture<Void> gather(
            CompletableFuture<List<Outcome>> operation, List<Integer> places, List<Outcome> outcomes) {
        return operation.handle((done, failure) -> {
            for (int i = 0; i < places.size(); i++) {
                outcomes.set(places.get(i), failure == null ? done.get(i) : Outcome.NOT_TAKEN);
            }
            return null;
        });
    }

    /** What is set now, texts by name. */
    Map<String, String> set(byte type, String name) {
        MetadataImage image = metadata.current();
        if (type == ConfigResource.TOPIC) {
            TopicImage topic = image.topic(name);
            return topic == null ? Map.of() : topic.configs();
        }
        return image.resources().of(idOf(type, name));
    }

    /** Why a setting of that name cannot be changed; null when it can. */
    static Outcome problem(byte type, String name) {
        ConfigKeys keys = ConfigResource.changeable(type);
        ConfigKey<?> key = keys == null ? null : keys.find(name);
        if (keys == null || key != null) {
            return null;
        }
        return type == ConfigResource.BROKER && BrokerSettings.ALL.find(name) != null
                ? ConfigResource.refusal(
                        ErrorCode.INVALID_REQUEST,
                        name + " changes in the broker's configuration file and with a restart")
                : ConfigResource.refusal(
                        ErrorCode.INVALID_CONFIG, "Unknown setting '" + name + "'" + keys.suggestion(name));
    }

    private static ResourceId idOf(byte type, String name) {
        return new ResourceId(Kind.of(type), name);
    }
}
