package io.journalq.server.metadata;

import io.journalq.server.metadata.ResourceId.Kind;
import io.journalq.server.metadata.index.SortedIndex;
import java.util.Collections;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;

/** The configurations of resources other than topics, as they were set: values by name. Immutable, any thread. */
public final class ResourceConfigs {
    /** No configurations. */
    public static final ResourceConfigs NONE = new ResourceConfigs(SortedIndex.by(ConfiguredResource::resource));

    /** Maximum number of resources with a configuration; each uses memory on every broker. */
    public static final int MAX_RESOURCES = 100_000;

    private final SortedIndex<ResourceId, ConfiguredResource> index;

    private record ConfiguredResource(ResourceId resource, SortedMap<String, String> configs) {}

    private ResourceConfigs(SortedIndex<ResourceId, ConfiguredResource> index) {
        this.index = index;
    }

    /** A new map of all configurations by resource, in a fixed order. */
    public SortedMap<ResourceId, SortedMap<String, String>> byResource() {
        SortedMap<ResourceId, SortedMap<String, String>> all = new TreeMap<>();
        index.forEach(one -> all.put(one.resource(), one.configs()));
        return all;
    }

    /** A new map of the configurations of one type of resource, by resource name. */
    public SortedMap<String, SortedMap<String, String>> ofKind(Kind kind) {
        SortedMap<String, SortedMap<String, String>> found = new TreeMap<>();
        for (ConfiguredResource one : index) {
            if (one.resource().kind() == kind) {
                found.put(one.resource().name(), one.configs());
            }
        }
        return found;
    }

    /** The configuration of {@code resource}; empty if nothing is set. */
    public SortedMap<String, String> of(ResourceId resource) {
        ConfiguredResource found = index.find(resource);
        return found == null ? Collections.emptySortedMap() : found.configs();
    }

    /** Whether {@code resource} cannot be configured because the maximum number of resources is reached. */
    boolean isOneTooMany(ResourceId resource) {
        return index.size() >= MAX_RESOURCES && index.find(resource) == null;
    }

    /**
     * A copy with one value changed, or removed if {@code value} is null. Returns this object if that changes nothing.
     */
    ResourceConfigs with(ResourceId resource, String name, String value) {
        SortedMap<String, String> configs = new TreeMap<>(of(resource));
        String before = value == null ? configs.remove(name) : configs.put(name, value);
        if (Objects.equals(before, value)) {
            return this;
        }
        return new ResourceConfigs(
                configs.isEmpty()
                        ? index.without(resource)
                        : index.with(new ConfiguredResource(resource, Collections.unmodifiableSortedMap(configs))));
    }
}
