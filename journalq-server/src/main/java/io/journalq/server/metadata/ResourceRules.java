package io.journalq.server.metadata;

import java.util.Map;

/** Decides which settings things other than topics may have. Pure: the same question gets the same answer. */
@FunctionalInterface
public interface ResourceRules {
    /** Nothing but topics has settings. */
    ResourceRules NONE = (resource, configs) -> "there are no settings of " + resource.kind();

    /**
     * What is wrong with {@code configs}, the settings that {@code resource} would have; null when nothing is.
     *
     * @param configs texts by name
     */
    String problem(ResourceId resource, Map<String, String> configs);
}
