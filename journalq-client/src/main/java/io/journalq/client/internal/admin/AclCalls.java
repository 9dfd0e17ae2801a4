package io.journalq.client.internal.admin;

import io.journalq.client.admin.AclBinding;
import io.journalq.client.admin.AclFilter;
import io.journalq.client.admin.UserDescription;
import io.journalq.client.error.JournalQException;
import io.journalq.client.error.UnsupportedByBrokerException;
import io.journalq.client.internal.network.BlockingCalls;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.message.CreateAclsRequest;
import io.journalq.common.protocol.message.CreateAclsResponse;
import io.journalq.common.protocol.message.DeleteAclsRequest;
import io.journalq.common.protocol.message.DeleteAclsResponse;
import io.journalq.common.protocol.message.DescribeAclsRequest;
import io.journalq.common.protocol.message.DescribeAclsResponse;
import io.journalq.common.protocol.message.DescribeUserScramCredentialsRequest;
import io.journalq.common.protocol.message.DescribeUserScramCredentialsResponse;
import io.journalq.common.sasl.ScramMechanism;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToIntFunction;

/** Requests about access control lists and users. Thread-safe. */
public final class AclCalls {
    private static final int NEWEST = 3;
    /** Stands for all types, operations or permissions in a filter. */
    private static final byte ANY = 1;

    private final BlockingCalls calls;

    public AclCalls(BlockingCalls calls) {
        this.calls = calls;
    }

    public List<AclBinding> describe(AclFilter filter) {
        DescribeAclsResponse response = calls.retrying(() -> {
            DescribeAclsResponse tried = calls.call(
                    BlockingCalls.ANY_BROKER,
                    ApiKey.DESCRIBE_ACLS,
                    NEWEST,
                    DescribeAclsResponse.class,
                    version -> new DescribeAclsRequest()
                            .setResourceTypeFilter(type(filter))
                            .setPatternTypeFilter(filter.match().code())
                            .setResourceNameFilter(filter.resourceName())
                            .setPrincipalFilter(filter.principal())
                            .setHostFilter(filter.host())
                            .setOperation(operation(filter))
                            .setPermissionType(permission(filter)));
            Failures failures = new Failures();
            failures.add(tried.errorCode(), "access control lists", tried.errorMessage());
            failures.throwFirst();
            return tried;
        });
        List<AclBinding> found = new ArrayList<>();
        for (DescribeAclsResponse.DescribeAclsResource resource : response.resources()) {
            for (DescribeAclsResponse.AclDescription acl : resource.acls()) {
                found.add(binding(
                        resource.resourceType(),
                        resource.patternType(),
                        resource.resourceName(),
                        acl.principal(),
                        acl.host(),
                        acl.operation(),
                        acl.permissionType()));
            }
        }
        return List.copyOf(found);
    }

    public List<UserDescription> describeUsers() {
        DescribeUserScramCredentialsResponse response = calls.retrying(() -> {
            DescribeUserScramCredentialsResponse tried = calls.call(
                    BlockingCalls.ANY_BROKER,
                    ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS,
                    0,
                    DescribeUserScramCredentialsResponse.class,
                    version -> new DescribeUserScramCredentialsRequest().setUsers(null));
            Failures failures = new Failures();
            failures.add(tried.errorCode(), "users", tried.errorMessage());
            failures.throwFirst();
            return tried;
        });
        Failures failures = new Failures();
        List<UserDescription> found = new ArrayList<>();
        for (DescribeUserScramCredentialsResponse.DescribeUserScramCredentialsResult user : response.results()) {
            failures.add(user.errorCode(), "user " + user.user(), user.errorMessage());
            Map<String, Integer> iterations = new TreeMap<>();
            user.credentialInfos().forEach(credential -> {
                ScramMechanism mechanism = ScramMechanism.of(credential.mechanism());
                iterations.put(
                        mechanism == null ? "mechanism " + credential.mechanism() : mechanism.mechanismName(),
                        credential.iterations());
            });
            found.add(new UserDescription(user.user(), iterations));
        }
        throwFirst(failures);
        return List.copyOf(found);
    }

    public void create(Collection<AclBinding> acls) {
        List<AclBinding> created = List.copyOf(acls);
        List<CreateAclsRequest.AclCreation> creations = created.stream()
                .map(acl -> new CreateAclsRequest.AclCreation()
                        .setResourceType(acl.resourceType().code())
                        .setResourcePatternType(acl.patternType().code())
                        .setResourceName(acl.resourceName())
                        .setPrincipal(acl.principal())
                        .setHost(acl.host())
                        .setOperation(acl.operation().code())
                        .setPermissionType(acl.permission().code()))
                .toList();
        CreateAclsResponse response = calls.retrying(() -> {
            CreateAclsResponse tried = calls.call(
                    BlockingCalls.ANY_BROKER,
                    ApiKey.CREATE_ACLS,
                    NEWEST,
                    CreateAclsResponse.class,
                    version -> new CreateAclsRequest().setCreations(creations));
            tried.results().forEach(result -> Failures.throwIfNotController(result.errorCode()));
            return tried;
        });
        Failures failures = new Failures();
        for (int i = 0; i < created.size(); i++) {
            CreateAclsResponse.AclCreationResult result = response.results().get(i);
            failures.add(result.errorCode(), created.get(i).toString(), result.errorMessage());
        }
        throwFirst(failures);
    }

    public List<AclBinding> delete(Collection<AclFilter> filters) {
        List<DeleteAclsRequest.DeleteAclsFilter> wanted = filters.stream()
                .map(filter -> new DeleteAclsRequest.DeleteAclsFilter()
                        .setResourceTypeFilter(type(filter))
                        .setPatternTypeFilter(filter.match().code())
                        .setResourceNameFilter(filter.resourceName())
                        .setPrincipalFilter(filter.principal())
                        .setHostFilter(filter.host())
                        .setOperation(operation(filter))
                        .setPermissionType(permission(filter)))
                .toList();
        DeleteAclsResponse response = calls.retrying(() -> {
            DeleteAclsResponse tried = calls.call(
                    BlockingCalls.ANY_BROKER,
                    ApiKey.DELETE_ACLS,
                    NEWEST,
                    DeleteAclsResponse.class,
                    version -> new DeleteAclsRequest().setFilters(wanted));
            tried.filterResults().forEach(result -> Failures.throwIfNotController(result.errorCode()));
            return tried;
        });
        Failures failures = new Failures();
        List<AclBinding> deleted = new ArrayList<>();
        for (DeleteAclsResponse.DeleteAclsFilterResult result : response.filterResults()) {
            failures.add(result.errorCode(), "access control lists", result.errorMessage());
            for (DeleteAclsResponse.DeleteAclsMatchingAcl acl : result.matchingAcls()) {
                failures.add(acl.errorCode(), "access control list of " + acl.resourceName(), acl.errorMessage());
                deleted.add(binding(
                        acl.resourceType(),
                        acl.patternType(),
                        acl.resourceName(),
                        acl.principal(),
                        acl.host(),
                        acl.operation(),
                        acl.permissionType()));
            }
        }
        throwFirst(failures);
        return List.copyOf(deleted);
    }

    private static byte type(AclFilter filter) {
        return filter.resourceType() == null ? ANY : filter.resourceType().code();
    }

    private static byte operation(AclFilter filter) {
        return filter.operation() == null ? ANY : filter.operation().code();
    }

    private static byte permission(AclFilter filter) {
        return filter.permission() == null ? ANY : filter.permission().code();
    }

    private void throwFirst(Failures failures) {
        JournalQException first = failures.first();
        if (first != null) {
            calls.reportIfRefused(first);
            throw first;
        }
    }

    private static AclBinding binding(
            byte type, byte pattern, String name, String principal, String host, byte operation, byte permission) {
        return new AclBinding(
                of(AclBinding.ResourceType.values(), AclBinding.ResourceType::code, type, "resource type"),
                of(AclBinding.PatternType.values(), AclBinding.PatternType::code, pattern, "pattern type"),
                name,
                principal,
                host,
                of(AclBinding.Operation.values(), AclBinding.Operation::code, operation, "operation"),
                of(AclBinding.Permission.values(), AclBinding.Permission::code, permission, "permission"));
    }

    /** An ACL that is not understood must not be left out of a list. */
    private static <E> E of(E[] values, ToIntFunction<E> code, byte wanted, String what) {
        for (E value : values) {
            if (code.applyAsInt(value) == wanted) {
                return value;
            }
        }
        throw new UnsupportedByBrokerException("access control lists: the broker has an ACL with the " + what + " "
                + wanted + ", which this client does not know; use a newer client");
    }
}
