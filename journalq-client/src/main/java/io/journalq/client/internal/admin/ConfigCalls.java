package io.journalq.client.internal.admin;

import io.journalq.client.admin.ConfigChange;
import io.journalq.client.admin.ConfigEntry;
import io.journalq.client.admin.ConfigResource;
import io.journalq.client.internal.network.BlockingCalls;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.message.DescribeConfigsRequest;
import io.journalq.common.protocol.message.DescribeConfigsResponse;
import io.journalq.common.protocol.message.IncrementalAlterConfigsRequest;
import io.journalq.common.protocol.message.IncrementalAlterConfigsResponse;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Requests about configurations. Those of a broker are sent to that broker. Thread-safe. */
public final class ConfigCalls {
    private static final int DESCRIBE_CONFIGS_NEWEST = 4;
    private static final int INCREMENTAL_ALTER_CONFIGS_NEWEST = 1;
    private static final short FIRST_VERSION_WITH_DOCUMENTATION = 3;

    private final BlockingCalls calls;

    public ConfigCalls(BlockingCalls calls) {
        this.calls = calls;
    }

    public Map<ConfigResource, List<ConfigEntry>> describe(Collection<ConfigResource> resources) {
        Map<ConfigResource, List<ConfigEntry>> described = new LinkedHashMap<>();
        for (ConfigResource resource : resources) {
            described.put(resource, calls.retryingUnlessAbsent(() -> describe(resource)));
        }
        return described;
    }

    public void alter(ConfigResource resource, Collection<ConfigChange> changes) {
        List<IncrementalAlterConfigsRequest.AlterableConfig> configs = new ArrayList<>();
        for (ConfigChange change : changes) {
            configs.add(new IncrementalAlterConfigsRequest.AlterableConfig()
                    .setName(change.name())
                    .setConfigOperation(change.operation().code())
                    .setValue(change.value()));
        }
        calls.retryingUnlessAbsent(() -> {
            IncrementalAlterConfigsResponse response = calls.call(
                    nodeFor(resource),
                    ApiKey.INCREMENTAL_ALTER_CONFIGS,
                    INCREMENTAL_ALTER_CONFIGS_NEWEST,
                    IncrementalAlterConfigsResponse.class,
                    version -> new IncrementalAlterConfigsRequest()
                            .setResources(List.of(new IncrementalAlterConfigsRequest.AlterConfigsResource()
                                    .setResourceType(resource.type().code())
                                    .setResourceName(resource.name())
                                    .setConfigs(configs))));
            Failures failures = new Failures();
            response.responses()
                    .forEach(result ->
                            failures.add(result.errorCode(), "configurations of " + resource, result.errorMessage()));
            failures.throwFirst();
            return null;
        });
    }

    private List<ConfigEntry> describe(ConfigResource resource) {
        DescribeConfigsResponse response = calls.call(
                nodeFor(resource),
                ApiKey.DESCRIBE_CONFIGS,
                DESCRIBE_CONFIGS_NEWEST,
                DescribeConfigsResponse.class,
                version -> {
                    DescribeConfigsRequest request = new DescribeConfigsRequest()
                            .setResources(List.of(new DescribeConfigsRequest.DescribeConfigsResource()
                                    .setResourceType(resource.type().code())
                                    .setResourceName(resource.name())
                                    .setConfigurationKeys(null)));
                    return version < FIRST_VERSION_WITH_DOCUMENTATION ? request : request.setIncludeDocumentation(true);
                });
        Failures failures = new Failures();
        List<ConfigEntry> entries = new ArrayList<>();
        for (DescribeConfigsResponse.DescribeConfigsResult result : response.results()) {
            failures.add(result.errorCode(), "configurations of " + resource, result.errorMessage());
            for (DescribeConfigsResponse.DescribeConfigsResourceResult config : result.configs()) {
                entries.add(new ConfigEntry(
                        config.name(),
                        config.value(),
                        ConfigEntry.Source.of(config.configSource()),
                        config.readOnly(),
                        config.isSensitive(),
                        config.documentation()));
            }
        }
        failures.throwFirst();
        entries.sort(Comparator.comparing(ConfigEntry::name));
        return List.copyOf(entries);
    }

    private static int nodeFor(ConfigResource resource) {
        if (resource.type() != ConfigResource.Type.BROKER || resource.name().isEmpty()) {
            return BlockingCalls.ANY_BROKER;
        }
        try {
            return Integer.parseInt(resource.name());
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("broker \"" + resource.name() + "\" is not a broker id: use digits", e);
        }
    }
}
