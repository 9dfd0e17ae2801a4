package io.journalq.server.api.admin.config;

import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.api.DeferredResponse;
import io.journalq.server.api.RequestContext;
import io.journalq.server.config.BrokerSettings;
import io.journalq.server.config.ConfigException;
import io.journalq.server.config.ConfigKey;
import io.journalq.server.config.ConfigKeys;
import io.journalq.server.config.KafkaNames;
import io.journalq.server.config.TopicSettings;
import io.journalq.server.control.Controller;
import io.journalq.server.control.Controller.ConfigChange;
import io.journalq.server.control.Controller.ResourceChange;
import io.journalq.server.control.Outcome;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.ResourceId;
import io.journalq.server.metadata.ResourceId.Kind;
import io.journalq.server.metadata.TopicImage;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Changes settings, for AlterConfigs and IncrementalAlterConfigs. Invalid changes are refused at once. All others go to
 * the controller together, and every resource gets its outcome in the order of the request. A setting may have our name
 * or Kafka's. Deleting a setting that is not set succeeds, even if no such setting exists. Any thread.
 */
public final class ConfigAlteration {
    /** Operations on a setting, by their number on the wire. */
    static final byte SET = 0;

    private static final byte DELETE = 1;
    private static final byte APPEND = 2;
    private static final byte SUBTRACT = 3;

    private final Supplier<MetadataImage> images;
    private final Controller controller;
    private final ConfigDescriber describer;
    private final IneffectiveSettings ineffective;

    /**
     * @param images supplies the newest image
     * @param describer provides the current value of a list that is appended to
     */
    public ConfigAlteration(
            Supplier<MetadataImage> images,
            Controller controller,
            ConfigDescriber describer,
            IneffectiveSettings ineffective) {
        this.images = images;
        this.controller = controller;
        this.describer = describer;
        this.ineffective = ineffective;
    }

    /**
     * A change of one setting.
     *
     * @param value null only when it is deleted
     */
    record Change(String name, byte operation, String value) {}

    /**
     * The changes of one resource.
     *
     * @param replacesAll whether settings without a change are reset to their defaults
     */
    record ResourceAlteration(byte type, String name, boolean replacesAll, List<Change> changes) {}

    /** Comparable, so that a map of keys stays fast if a client chooses names with equal hash codes. */
    private record ResourceKey(byte type, String name) implements Comparable<ResourceKey> {
        static ResourceKey of(ResourceAlteration resource) {
            return new ResourceKey(resource.type(), resource.name());
        }

        @Override
        public int compareTo(ResourceKey other) {
            return type == other.type ? name.compareTo(other.name) : Byte.compare(type, other.type);
        }
    }

    /** The outcome of the changes of one resource. */
    record ResourceOutcome(byte type, String name, Outcome outcome) {
        short errorCode() {
            return outcome.error().code();
        }

        String errorMessage() {
            return outcome.reason();
        }
    }

    /**
     * Changes settings, and responds.
     *
     * @param request the changes of each resource
     * @param response creates the response from the outcomes, in the order of the request
     */
    void alter(
            RequestContext context,
            Stream<ResourceAlteration> request,
            boolean validateOnly,
            Function<Stream<ResourceOutcome>, ApiMessage> response) {
        List<ResourceAlteration> resources = request.toList();
        DeferredResponse.when(
                alter(context, resources, validateOnly),
                context,
                (outcomes, never) -> response.apply(IntStream.range(0, resources.size())
                        .mapToObj(i -> new ResourceOutcome(
                                resources.get(i).type(), resources.get(i).name(), outcomes.get(i)))));
    }

    private CompletableFuture<List<Outcome>> alter(
            RequestContext context, List<ResourceAlteration> resources, boolean validateOnly) {
        List<ResourceAlteration> all = new ArrayList<>();
        List<Outcome> outcomes = new ArrayList<>();
        List<ConfigChange> ofTopics = new ArrayList<>();
        List<Integer> topicPlaces = new ArrayList<>();
        List<ResourceChange> ofOthers = new ArrayList<>();
        List<Integer> otherPlaces = new ArrayList<>();
        Map<ResourceKey, Integer> occurrences = new HashMap<>();
        resources.forEach(resource -> occurrences.merge(ResourceKey.of(resource), 1, Integer::sum));
        for (ResourceAlteration resource : resources) {
            ResourceAlteration asked = resource;
            Outcome refusal = ConfigResourceTypes.alterationDenial(context, asked.type(), asked.name());
            if (refusal == null && occurrences.get(ResourceKey.of(asked)) > 1) {
                refusal = ConfigResourceTypes.refusal(
                        ErrorCode.INVALID_REQUEST, "the resource '" + asked.name() + "' is named twice");
            }
            if (refusal == null) {
                refusal = ConfigResourceTypes.problem(asked.type(), asked.name(), images.get());
            }
            if (refusal == null) {
                try {
                    asked = underOurNames(asked);
                    refusal = problem(asked);
                } catch (ConfigException wrong) {
                    refusal = ConfigResourceTypes.refusal(ErrorCode.INVALID_CONFIG, wrong.getMessage());
                }
            }
            all.add(asked);
            outcomes.add(refusal);
            if (refusal != null) {
                continue;
            }
            ResourceAlteration planned = asked;
            if (planned.type() == ConfigResourceTypes.TOPIC) {
                topicPlaces.add(outcomes.size() - 1);
                ofTopics.add(new ConfigChange(planned.name(), image -> changes(planned, image)));
            } else {
                otherPlaces.add(outcomes.size() - 1);
                ofOthers.add(
                        new ResourceChange(idOf(planned.type(), planned.name()), image -> changes(planned, image)));
            }
        }
        CompletableFuture<Void> topics =
                gather(controller.alterTopicConfigs(ofTopics, validateOnly), topicPlaces, outcomes);
        CompletableFuture<Void> others =
                gather(controller.alterResourceConfigs(ofOthers, validateOnly), otherPlaces, outcomes);
        return topics.thenCombine(others, (one, other) -> {
            if (!validateOnly) {
                reportIneffective(all, outcomes);
            }
            return outcomes;
        });
    }

    /** Both operations write different elements of the list, which is read when both are done. */
    private static CompletableFuture<Void> gather(
            CompletableFuture<List<Outcome>> operation, List<Integer> places, List<Outcome> outcomes) {
        return operation.handle((done, failure) -> {
            for (int i = 0; i < places.size(); i++) {
                outcomes.set(places.get(i), failure == null ? done.get(i) : Outcome.NOT_TAKEN);
            }
            return null;
        });
    }

    private void reportIneffective(List<ResourceAlteration> all, List<Outcome> outcomes) {
        for (int i = 0; i < all.size(); i++) {
            if (outcomes.get(i).error() == ErrorCode.NONE) {
                for (Change change : all.get(i).changes()) {
                    ineffective.onSet(change.name(), change.operation() == DELETE ? null : change.value());
                }
            }
        }
    }

    private static ResourceAlteration underOurNames(ResourceAlteration asked) throws ConfigException {
        KafkaNames names = ConfigResourceTypes.kafkaNames(asked.type());
        List<Change> changes = new ArrayList<>();
        for (Change change : asked.changes()) {
            boolean hasValue = change.operation() != DELETE && change.value() != null;
            changes.add(new Change(
                    names.ourName(change.name()),
                    change.operation(),
                    hasValue ? names.ourText(change.name(), change.value()) : change.value()));
        }
        return new ResourceAlteration(asked.type(), asked.name(), asked.replacesAll(), changes);
    }

    private static Outcome problem(ResourceAlteration asked) {
        Set<String> names = new TreeSet<>();
        for (Change change : asked.changes()) {
            Outcome problem = names.add(change.name())
                    ? problem(asked.type(), change)
                    : ConfigResourceTypes.refusal(ErrorCode.INVALID_REQUEST, change.name() + " is named twice");
            if (problem != null) {
                return problem;
            }
        }
        return null;
    }

    private static Outcome problem(byte type, Change change) {
        String name = change.name();
        byte operation = change.operation();
        if (operation < SET || operation > SUBTRACT) {
            return ConfigResourceTypes.refusal(ErrorCode.INVALID_REQUEST, "there is no operation " + operation);
        }
        ConfigKeys keys = ConfigResourceTypes.changeable(type);
        ConfigKey<?> key = keys.find(name);
        if (key == null && type == ConfigResourceTypes.BROKER && BrokerSettings.ALL.find(name) != null) {
            return ConfigResourceTypes.refusal(
                    ErrorCode.INVALID_REQUEST, name + " changes in the broker's configuration file and with a restart");
        }
        if (operation == DELETE) {
            return null;
        }
        if (key == null) {
            return ConfigResourceTypes.refusal(
                    ErrorCode.INVALID_CONFIG, "Unknown setting '" + name + "'" + keys.suggestion(name));
        }
        if (change.value() == null) {
            return ConfigResourceTypes.refusal(ErrorCode.INVALID_REQUEST, name + " must have a value to be set");
        }
        return operation == SET || key.type() == ConfigKey.Type.LIST
                ? null
                : ConfigResourceTypes.refusal(
                        ErrorCode.INVALID_CONFIG, name + " is not a list: it can only be set or deleted");
    }

    /**
     * The new texts by name; null resets a setting to its default. On the controller's thread.
     *
     * @param image with all earlier changes
     */
    private Map<String, String> changes(ResourceAlteration asked, MetadataImage image) {
        Map<String, String> before = set(asked.type(), asked.name(), image);
        Map<String, String> changes = new TreeMap<>();
        if (asked.replacesAll()) {
            before.keySet().forEach(name -> changes.put(name, null));
            if (isReplicated(asked, image)) {
                // The topic must have it, and clients that only know Kafka's settings never name it.
                changes.remove(TopicSettings.DELIVERY_MODE.name());
            }
        }
        for (Change change : asked.changes()) {
            changes.put(change.name(), after(asked.type(), change, before.get(change.name()), image));
        }
        return changes;
    }

    private static boolean isReplicated(ResourceAlteration asked, MetadataImage image) {
        TopicImage topic = asked.type() == ConfigResourceTypes.TOPIC ? image.topic(asked.name()) : null;
        return topic != null && topic.isReplicated();
    }

    private static Map<String, String> set(byte type, String name, MetadataImage image) {
        if (type == ConfigResourceTypes.TOPIC) {
            TopicImage topic = image.topic(name);
            return topic == null ? Map.of() : topic.configs();
        }
        return image.resources().of(idOf(type, name));
    }

    private String after(byte type, Change change, String before, MetadataImage image) {
        if (change.operation() == SET) {
            return change.value();
        }
        if (change.operation() == DELETE) {
            return null;
        }
        ConfigKey<?> key = ConfigResourceTypes.changeable(type).find(change.name());
        List<String> items =
                new ArrayList<>(itemsOf(before == null ? describer.inheritedBy(type, key, image) : before));
        List<String> named = itemsOf(change.value());
        if (change.operation() == APPEND) {
            named.stream().filter(item -> !items.contains(item)).forEach(items::add);
        } else {
            items.removeAll(named);
        }
        return String.join(",", items);
    }

    private static List<String> itemsOf(String list) {
        return Arrays.stream(list.split(",", -1))
                .map(String::strip)
                .filter(item -> !item.isEmpty())
                .toList();
    }

    private static ResourceId idOf(byte type, String name) {
        return new ResourceId(Kind.of(type), name);
    }
}
