package io.journalq.server.metadata;

import java.util.Map;

/** Decides which configurations are valid for resources other than topics. Pure: equal arguments give equal results. */
@FunctionalInterface
public interface ResourceRules {
    /** Only topics can be configured. */
    ResourceRules NONE = (resource, configs) -> "there are no settings for resources of type " + resource.kind();

    /**
     * Why {@code configs} is not a valid configuration of {@code resource}; null if it is.
     *
     * @param configs values by name
     */
    String problem(ResourceId resource, Map<String, String> configs);
}
