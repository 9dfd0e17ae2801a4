package io.journalq.server.metadata;

import io.journalq.server.metadata.ResourceId.Kind;
import java.util.Collections;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/** Settings of what is no topic, as they were set: texts by name. Immutable, any thread. */
public final class ResourceConfigs {
    /** Nothing is set. */
    public static final ResourceConfigs NONE = new ResourceConfigs(Collections.emptySortedMap());

    /** Most things that have settings of their own; each costs memory on every broker. */
    public static final int MAX_RESOURCES = 100_000;

    private final SortedMap<ResourceId, SortedMap<String, String>> configsByResource;

    private ResourceConfigs(SortedMap<ResourceId, SortedMap<String, String>> configsByResource) {
        this.configsByResource = Collections.unmodifiableSortedMap(configsByResource);
    }

    /** Everything that is set, by what it is set for, in a fixed order. */
    public SortedMap<ResourceId, SortedMap<String, String>> byResource() {
        return configsByResource;
    }

    /** What is set of one kind, by name. */
    public SortedMap<String, SortedMap<String, String>> ofKind(Kind kind) {
        SortedMap<String, SortedMap<String, String>> found = new TreeMap<>();
        configsByResource.forEach((resource, configs) -> {
            if (resource.kind() == kind) {
                found.put(resource.name(), configs);
            }
        });
        return found;
    }

    /** What is set for {@code resource}; empty when nothing is. */
    public Map<String, String> of(ResourceId resource) {
        return configsByResource.getOrDefault(resource, Collections.emptySortedMap());
    }

    /** Whether {@code resource} cannot get settings, as it would be one too many. */
    boolean isOneTooMany(ResourceId resource) {
        return configsByResource.size() >= MAX_RESOURCES && !configsByResource.containsKey(resource);
    }

    /** These with one setting changed, or back at its default when {@code value} is null. */
    ResourceConfigs with(ResourceId resource, String name, String value) {
        SortedMap<ResourceId, SortedMap<String, String>> changed = new TreeMap<>(configsByResource);
        SortedMap<String, String> configs = new TreeMap<>(changed.getOrDefault(resource, Collections.emptySortedMap()));
        if (value == null) {
            configs.remove(name);
        } else {
            configs.put(name, value);
        }
        if (configs.isEmpty()) {
            changed.remove(resource);
        } else {
            changed.put(resource, Collections.unmodifiableSortedMap(configs));
        }
        return new ResourceConfigs(changed);
    }
}
