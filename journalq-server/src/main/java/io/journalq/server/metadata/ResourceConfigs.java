package io.journalq.server.metadata;

import io.journalq.server.metadata.ResourceId.Kind;
import java.util.Collections;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/** The configurations of resources other than topics, as they were set: values by name. Immutable, any thread. */
public final class ResourceConfigs {
    /** No configurations. */
    public static final ResourceConfigs NONE = new ResourceConfigs(Collections.emptySortedMap());

    /** Maximum number of resources with a configuration; each uses memory on every broker. */
    public static final int MAX_RESOURCES = 100_000;

    private final SortedMap<ResourceId, SortedMap<String, String>> configsByResource;

    private ResourceConfigs(SortedMap<ResourceId, SortedMap<String, String>> configsByResource) {
        this.configsByResource = Collections.unmodifiableSortedMap(configsByResource);
    }

    /** All configurations by resource, in a fixed order. */
    public SortedMap<ResourceId, SortedMap<String, String>> byResource() {
        return configsByResource;
    }

    /** The configurations of one type of resource, by resource name. */
    public SortedMap<String, SortedMap<String, String>> ofKind(Kind kind) {
        SortedMap<String, SortedMap<String, String>> found = new TreeMap<>();
        configsByResource.forEach((resource, configs) -> {
            if (resource.kind() == kind) {
                found.put(resource.name(), configs);
            }
        });
        return found;
    }

    /** The configuration of {@code resource}; empty if nothing is set. */
    public Map<String, String> of(ResourceId resource) {
        return configsByResource.getOrDefault(resource, Collections.emptySortedMap());
    }

    /** Whether {@code resource} cannot be configured because the maximum number of resources is reached. */
    boolean isOneTooMany(ResourceId resource) {
        return configsByResource.size() >= MAX_RESOURCES && !configsByResource.containsKey(resource);
    }

    /** A copy with one value changed, or removed if {@code value} is null. */
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
