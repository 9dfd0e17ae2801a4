package io.journalq.server.metadata.security;

import io.journalq.server.metadata.index.SortedIndex;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * All access control lists, and decisions by them. Immutable, any thread.
 *
 * <p>A decision considers the entries of the resource's name, of all its prefixes that have entries, and of {@code *}.
 * The cost does not depend on the number of other resources: it is one lookup for each length that a prefix has.
 *
 * <p>Source: {@code StandardAuthorizerData} of Kafka 4.3. An entry that denies wins over all that allow.
 */
public final class AclImage {
    /** Maximum number of entries. */
    public static final int MAX_ACLS = 100_000;

    /** No entries. */
    public static final AclImage NONE = new AclImage(SortedIndex.by(ResourceAcls::resource), new TreeMap<>(), 0);

    private final SortedIndex<AclResource, ResourceAcls> resources;
    /** Numbers of resources with a prefix, by the length of the prefix in characters. */
    private final SortedMap<Integer, Integer> prefixLengths;

    private final int size;

    /**
     * The entries of one resource.
     *
     * @param acls in order, at least one
     */
    private record ResourceAcls(AclResource resource, List<Acl> acls) {}

    private AclImage(
            SortedIndex<AclResource, ResourceAcls> resources, SortedMap<Integer, Integer> prefixLengths, int size) {
        this.resources = resources;
        this.prefixLengths = prefixLengths;
        this.size = size;
    }

    /** Number of entries. */
    public int size() {
        return size;
    }

    /** Whether there is this entry. */
    public boolean contains(Acl acl) {
        return Collections.binarySearch(of(acl.resource()), acl) >= 0;
    }

    /** The entries of a resource, in order. Those of prefixes and of {@code *} are not among them. */
    public List<Acl> of(AclResource resource) {
        ResourceAcls found = resources.find(resource);
        return found == null ? List.of() : found.acls();
    }

    /** A copy with an entry. */
    public AclImage with(Acl acl) {
        List<Acl> before = of(acl.resource());
        int position = Collections.binarySearch(before, acl);
        if (position >= 0) {
            return this;
        }
        List<Acl> after = new ArrayList<>(before.size() + 1);
        after.addAll(before);
        after.add(-position - 1, acl);
        return new AclImage(
                resources.with(new ResourceAcls(acl.resource(), Collections.unmodifiableList(after))),
                before.isEmpty() ? counted(acl.resource(), 1) : prefixLengths,
                size + 1);
    }

    /** A copy without an entry. */
    public AclImage without(Acl acl) {
        List<Acl> before = of(acl.resource());
        int position = Collections.binarySearch(before, acl);
        if (position < 0) {
            return this;
        }
        if (before.size() == 1) {
            return new AclImage(resources.without(acl.resource()), counted(acl.resource(), -1), size - 1);
        }
        List<Acl> after = new ArrayList<>(before);
        after.remove(position);
        return new AclImage(
                resources.with(new ResourceAcls(acl.resource(), Collections.unmodifiableList(after))),
                prefixLengths,
                size - 1);
    }

    private SortedMap<Integer, Integer> counted(AclResource resource, int change) {
        if (resource.pattern() != AclPattern.PREFIXED) {
            return prefixLengths;
        }
        SortedMap<Integer, Integer> changed = new TreeMap<>(prefixLengths);
        changed.merge(resource.name().length(), change, (count, one) -> count + one == 0 ? null : count + one);
        return changed;
    }

    /** The entries that a filter selects, in order. */
    public List<Acl> select(AclFilter filter) {
        List<Acl> selected = new ArrayList<>();
        for (ResourceAcls one : candidates(filter)) {
            if (filter.selects(one.resource())) {
                one.acls().stream().filter(filter::selects).forEach(selected::add);
            }
        }
        return selected;
    }

    private Collection<ResourceAcls> candidates(AclFilter filter) {
        if (filter.type() == AclResourceType.ANY
                || filter.name() == null
                || !filter.pattern().isSpecific()) {
            return resources;
        }
        ResourceAcls only = resources.find(new AclResource(filter.type(), filter.pattern(), filter.name()));
        return only == null ? List.of() : List.of(only);
    }

    /**
     * Decides on an operation.
     *
     * @param principal {@code User:name}
     * @param host the IP address of the client
     */
    public AclDecision decide(
            String principal, String host, AclOperation operation, AclResourceType type, String name) {
        Search search = new Search(principal, host, operation);
        forEachApplicable(type, name, search);
        return search.decision();
    }

    /** Passes on all entries that apply to a resource, whatever their principal and operation. */
    public void forEachApplicable(AclResourceType type, String name, Consumer<Acl> action) {
        of(new AclResource(type, AclPattern.LITERAL, name)).forEach(action);
        if (!name.equals(AclPattern.EVERY_NAME)) {
            of(new AclResource(type, AclPattern.LITERAL, AclPattern.EVERY_NAME)).forEach(action);
        }
        for (int length : prefixLengths.keySet()) {
            if (length > name.length()) {
                break;
            }
            of(new AclResource(type, AclPattern.PREFIXED, name.substring(0, length)))
                    .forEach(action);
        }
    }

    /** The entry that decides, among those that apply to a resource. */
    private static final class Search implements Consumer<Acl> {
        private final String principal;
        private final String host;
        private final AclOperation operation;
        private boolean hasAny;
        private Acl denies;
        private Acl allows;

        Search(String principal, String host, AclOperation operation) {
            this.principal = principal;
            this.host = host;
            this.operation = operation;
        }

        @Override
        public void accept(Acl acl) {
            hasAny = true;
            if (!acl.covers(operation) || !acl.names(principal, host)) {
                return;
            }
            if (acl.permission() == AclPermission.DENY) {
                denies = denies == null ? acl : denies;
            } else {
                allows = allows == null ? acl : allows;
            }
        }

        AclDecision decision() {
            if (denies != null) {
                return new AclDecision(AclDecision.Verdict.DENIED, denies);
            }
            if (allows != null) {
                return new AclDecision(AclDecision.Verdict.ALLOWED, allows);
            }
            return hasAny ? AclDecision.NOT_ALLOWED : AclDecision.NO_ACL;
        }
    }

    /**
     * Whether there is a name for which the entries allow an operation: an entry allows it, and none denies everything
     * that this entry allows. The default for resources without entries does not matter here.
     *
     * <p>Source: {@code Authorizer.authorizeByResourceType} of Kafka 4.3. As there, an operation does not imply others.
     */
    public boolean allowsSome(String principal, String host, AclOperation operation, AclResourceType type) {
        List<Acl> relevant = new ArrayList<>();
        for (ResourceAcls one : resources) {
            if (one.resource().type() == type) {
                one.acls().stream()
                        .filter(acl -> acl.operation() == operation || acl.operation() == AclOperation.ALL)
                        .filter(acl -> acl.names(principal, host))
                        .forEach(relevant::add);
            }
        }
        AclImage denials = NONE;
        for (Acl acl : relevant) {
            if (acl.permission() == AclPermission.DENY) {
                denials = denials.with(acl);
            }
        }
        for (Acl acl : relevant) {
            if (acl.permission() == AclPermission.ALLOW && !denials.coverAll(acl.resource())) {
                return true;
            }
        }
        return false;
    }

    /** Whether entries apply to every resource that {@code wanted} describes. */
    private boolean coverAll(AclResource wanted) {
        if (!of(new AclResource(wanted.type(), AclPattern.LITERAL, AclPattern.EVERY_NAME))
                .isEmpty()) {
            return true;
        }
        boolean everyName =
                wanted.pattern() == AclPattern.LITERAL && wanted.name().equals(AclPattern.EVERY_NAME);
        if (everyName) {
            return false;
        }
        if (wanted.pattern() == AclPattern.LITERAL && !of(wanted).isEmpty()) {
            return true;
        }
        for (int length : prefixLengths.keySet()) {
            if (length > wanted.name().length()) {
                break;
            }
            if (!of(new AclResource(
                            wanted.type(), AclPattern.PREFIXED, wanted.name().substring(0, length)))
                    .isEmpty()) {
                return true;
            }
        }
        return false;
    }
}
