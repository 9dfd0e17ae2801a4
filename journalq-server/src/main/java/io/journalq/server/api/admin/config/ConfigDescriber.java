package io.journalq.server.api.admin.config;

import io.journalq.common.protocol.message.DescribeConfigsResponse.DescribeConfigsResourceResult;
import io.journalq.common.protocol.message.DescribeConfigsResponse.DescribeConfigsSynonym;
import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.BrokerSettings;
import io.journalq.server.config.ClientMetricsSettings;
import io.journalq.server.config.ConfigKey;
import io.journalq.server.config.ConfigOrigin;
import io.journalq.server.config.GroupSettings;
import io.journalq.server.config.KafkaNames;
import io.journalq.server.config.TopicSettings;
import io.journalq.server.metadata.BrokerOverrides;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.ResourceId;
import io.journalq.server.metadata.ResourceId.Kind;
import io.journalq.server.metadata.TopicImage;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/** Describes settings and their origins in the terms of the protocol (KIP-226, KIP-569). Any thread. */
public final class ConfigDescriber {
    private static final byte SET_ON_TOPIC = 1;
    private static final byte SET_ON_BROKER = 2;
    private static final byte SET_ON_EVERY_BROKER = 3;
    private static final byte STARTED_WITH = 4;
    private static final byte DEFAULT = 5;
    private static final byte SET_ON_CLIENT_METRICS = 7;
    private static final byte SET_ON_GROUP = 8;

    private final BrokerConfig started;
    private final Supplier<MetadataImage> images;

    /** @param started the settings that the broker was started with */
    public ConfigDescriber(BrokerConfig started, Supplier<MetadataImage> images) {
        this.started = started;
        this.images = images;
    }

    /** All settings of a topic, with documentation and synonyms. */
    public List<DescribeConfigsResourceResult> topic(TopicImage topic) {
        List<DescribeConfigsResourceResult> results = new ArrayList<>();
        for (ConfigKey<?> key : TopicSettings.ALL.all()) {
            DescribeConfigsResourceResult result =
                    result(key, own(key, topic.configs(), SET_ON_TOPIC), underAllNames(key, layers(key)));
            results.add(result);
            results.addAll(underKafkaNames(KafkaNames.OF_TOPICS, key, result));
        }
        return results;
    }

    /** All settings of a group, even if there is no group of that id. */
    List<DescribeConfigsResourceResult> group(String groupId) {
        Map<String, String> configs = images.get().resources().of(new ResourceId(Kind.GROUP, groupId));
        List<DescribeConfigsResourceResult> results = new ArrayList<>();
        for (ConfigKey<?> key : GroupSettings.ALL.all()) {
            results.add(result(key, own(key, configs, SET_ON_GROUP), layers(GroupSettings.ofBroker(key))));
        }
        return results;
    }

    /** All settings of a client metrics subscription; none if it does not exist. */
    List<DescribeConfigsResourceResult> clientMetrics(String name) {
        Map<String, String> configs = images.get().resources().of(new ResourceId(Kind.CLIENT_METRICS, name));
        List<DescribeConfigsResourceResult> results = new ArrayList<>();
        if (!configs.isEmpty()) {
            for (ConfigKey<?> key : ClientMetricsSettings.ALL.all()) {
                List<DescribeConfigsSynonym> layers = List.of(synonym(key, key.format(key.defaultValue()), DEFAULT));
                results.add(result(key, own(key, configs, SET_ON_CLIENT_METRICS), layers));
            }
        }
        return results;
    }

    /** All settings of the broker. */
    List<DescribeConfigsResourceResult> broker() {
        List<DescribeConfigsResourceResult> results = new ArrayList<>();
        for (ConfigKey<?> key : BrokerSettings.ALL.all()) {
            boolean readOnly = BrokerSettings.DYNAMIC.find(key.name()) == null;
            DescribeConfigsResourceResult result =
                    result(key, List.of(), underAllNames(key, layers(key))).setReadOnly(readOnly);
            results.add(result);
            results.addAll(underKafkaNames(KafkaNames.OF_BROKERS, key, result));
        }
        return results;
    }

    /** Only the settings that are set for all brokers. */
    List<DescribeConfigsResourceResult> everyBroker() {
        Map<String, String> configs = images.get().resources().of(BrokerOverrides.EVERY_BROKER);
        List<DescribeConfigsResourceResult> results = new ArrayList<>();
        for (ConfigKey<?> key : BrokerSettings.DYNAMIC.all()) {
            if (configs.containsKey(key.name())) {
                DescribeConfigsResourceResult result =
                        result(key, underAllNames(key, own(key, configs, SET_ON_EVERY_BROKER)), List.of());
                results.add(result);
                results.addAll(underKafkaNames(KafkaNames.OF_BROKERS, key, result));
            }
        }
        return results;
    }

    /** The value that applies in {@code image} to a resource which does not set {@code key}. */
    String inheritedBy(byte type, ConfigKey<?> key, MetadataImage image) {
        return type == ConfigResourceTypes.TOPIC ? layers(key, image).get(0).value() : key.format(key.defaultValue());
    }

    /** The values of the broker's setting by origin, in descending precedence. */
    private List<DescribeConfigsSynonym> layers(ConfigKey<?> key) {
        return layers(key, images.get());
    }

    private List<DescribeConfigsSynonym> layers(ConfigKey<?> key, MetadataImage image) {
        List<DescribeConfigsSynonym> layers = new ArrayList<>();
        if (BrokerSettings.DYNAMIC.find(key.name()) != null) {
            ResourceId here = BrokerOverrides.of(started.get(BrokerSettings.NODE_ID));
            layers.addAll(own(key, image.resources().of(here), SET_ON_BROKER));
            layers.addAll(own(key, image.resources().of(BrokerOverrides.EVERY_BROKER), SET_ON_EVERY_BROKER));
        }
        if (started.origin(key) != ConfigOrigin.DEFAULT) {
            layers.add(synonym(key, started.text(key), STARTED_WITH));
        }
        layers.add(synonym(key, key.format(key.defaultValue()), DEFAULT));
        return layers;
    }

    /** Adds to each value of a broker's setting the same value under Kafka's names for it. */
    private static List<DescribeConfigsSynonym> underAllNames(ConfigKey<?> key, List<DescribeConfigsSynonym> layers) {
        List<DescribeConfigsSynonym> all = new ArrayList<>();
        for (DescribeConfigsSynonym layer : layers) {
            all.add(layer);
            for (KafkaNames.Name name : KafkaNames.OF_BROKERS.shownOf(key)) {
                String text = name.kafkaText(layer.value());
                if (text != null) {
                    all.add(new DescribeConfigsSynonym()
                            .setName(name.name())
                            .setValue(text)
                            .setSource(layer.source()));
                }
            }
        }
        return all;
    }

    /** The same setting under Kafka's names for it, which Kafka's tools look up. */
    private static List<DescribeConfigsResourceResult> underKafkaNames(
            KafkaNames names, ConfigKey<?> key, DescribeConfigsResourceResult ours) {
        return names.shownOf(key).stream()
                .map(name -> new DescribeConfigsResourceResult()
                        .setName(name.name())
                        .setValue(name.kafkaText(ours.value()))
                        .setConfigSource(ours.configSource())
                        .setReadOnly(ours.readOnly())
                        .setConfigType(ours.configType())
                        .setDocumentation("Kafka's name for " + key.name() + ". " + key.documentation())
                        .setSynonyms(ours.synonyms()))
                .toList();
    }

    private static List<DescribeConfigsSynonym> own(ConfigKey<?> key, Map<String, String> configs, byte source) {
        String text = configs.get(key.name());
        return text == null ? List.of() : List.of(synonym(key, key.canonical(text), source));
    }

    private static DescribeConfigsResourceResult result(
            ConfigKey<?> key, List<DescribeConfigsSynonym> own, List<DescribeConfigsSynonym> inherited) {
        List<DescribeConfigsSynonym> synonyms = new ArrayList<>(own);
        synonyms.addAll(inherited);
        return new DescribeConfigsResourceResult()
                .setName(key.name())
                .setValue(synonyms.get(0).value())
                .setConfigSource(synonyms.get(0).source())
                .setConfigType(key.type().code())
                .setIsSensitive(key.isSensitive())
                .setDocumentation(key.documentation())
                .setSynonyms(synonyms);
    }

    private static DescribeConfigsSynonym synonym(ConfigKey<?> key, String value, byte source) {
        return new DescribeConfigsSynonym()
                .setName(key.name())
                .setValue(key.isSensitive() ? null : value)
                .setSource(source);
    }
}
