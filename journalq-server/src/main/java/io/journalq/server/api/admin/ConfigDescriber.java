package io.journalq.server.api.admin;

import io.journalq.common.protocol.message.DescribeConfigsResponse.DescribeConfigsResourceResult;
import io.journalq.common.protocol.message.DescribeConfigsResponse.DescribeConfigsSynonym;
import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.BrokerSettings;
import io.journalq.server.config.ConfigKey;
import io.journalq.server.config.ConfigOrigin;
import io.journalq.server.config.TopicSettings;
import io.journalq.server.metadata.TopicImage;
import java.util.ArrayList;
import java.util.List;

/** Says what settings are, and what set them, as the protocol says it (KIP-226, KIP-569). Any thread. */
public final class ConfigDescriber {
    private static final byte SET_ON_TOPIC = 1;
    private static final byte SET_FOR_BROKER = 4;
    private static final byte DEFAULT = 5;

    private final BrokerConfig broker;

    public ConfigDescriber(BrokerConfig broker) {
        this.broker = broker;
    }

    /** Every setting of a topic, with documentation and synonyms. */
    List<DescribeConfigsResourceResult> topic(TopicImage topic) {
        List<DescribeConfigsResourceResult> results = new ArrayList<>();
        for (ConfigKey<?> key : TopicSettings.ALL.all()) {
            String own = topic.configs().get(key.name());
            DescribeConfigsResourceResult result = result(key);
            if (own != null) {
                List<DescribeConfigsSynonym> synonyms = new ArrayList<>(result.synonyms());
                synonyms.add(0, synonym(key, own, SET_ON_TOPIC));
                result.setValue(own).setConfigSource(SET_ON_TOPIC).setSynonyms(synonyms);
            }
            results.add(result.setReadOnly(false));
        }
        return results;
    }

    /** Every setting of the broker; they change only by a restart. */
    List<DescribeConfigsResourceResult> broker() {
        List<DescribeConfigsResourceResult> results = new ArrayList<>();
        for (ConfigKey<?> key : BrokerSettings.ALL.all()) {
            results.add(result(key).setReadOnly(true));
        }
        return results;
    }

    private DescribeConfigsResourceResult result(ConfigKey<?> key) {
        List<DescribeConfigsSynonym> synonyms = new ArrayList<>();
        boolean set = broker.origin(key) != ConfigOrigin.DEFAULT;
        if (set) {
            synonyms.add(synonym(key, broker.text(key), SET_FOR_BROKER));
        }
        synonyms.add(synonym(key, key.format(key.defaultValue()), DEFAULT));
        return new DescribeConfigsResourceResult()
                .setName(key.name())
                .setValue(broker.text(key))
                .setConfigSource(set ? SET_FOR_BROKER : DEFAULT)
                .setConfigType(key.type().code())
                .setDocumentation(key.documentation())
                .setSynonyms(synonyms);
    }

    private static DescribeConfigsSynonym synonym(ConfigKey<?> key, String value, byte source) {
        return new DescribeConfigsSynonym().setName(key.name()).setValue(value).setSource(source);
    }
}
