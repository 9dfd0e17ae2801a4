package io.journalq.server.api.admin.security;

import io.journalq.common.protocol.message.CreateAclsRequest.AclCreation;
import io.journalq.common.protocol.message.DeleteAclsRequest.DeleteAclsFilter;
import io.journalq.common.protocol.message.DescribeAclsRequest;
import io.journalq.server.metadata.security.Acl;
import io.journalq.server.metadata.security.AclFilter;
import io.journalq.server.metadata.security.AclOperation;
import io.journalq.server.metadata.security.AclPattern;
import io.journalq.server.metadata.security.AclPermission;
import io.journalq.server.metadata.security.AclResource;
import io.journalq.server.metadata.security.AclResourceType;
import io.journalq.server.security.Authorizer.Asker;

/** Reads ACLs and filters from requests. Stateless. */
final class AclMessages {
    private AclMessages() {}

    /** @throws IllegalArgumentException if there is no such ACL, with a line for the client */
    static Acl acl(AclCreation creation) {
        Acl acl = new Acl(
                new AclResource(
                        known("resource type", creation.resourceType(), AclResourceType.of(creation.resourceType())),
                        known(
                                "pattern type",
                                creation.resourcePatternType(),
                                AclPattern.of(creation.resourcePatternType())),
                        creation.resourceName()),
                creation.principal(),
                Asker.hostNamed(creation.host()),
                known("operation", creation.operation(), AclOperation.of(creation.operation())),
                known("permission type", creation.permissionType(), AclPermission.of(creation.permissionType())));
        String problem = acl.problem();
        if (problem != null) {
            throw new IllegalArgumentException(problem);
        }
        return acl;
    }

    /** @throws IllegalArgumentException if there is no such filter, with a line for the client */
    static AclFilter filter(DescribeAclsRequest request) {
        return filter(
                request.resourceTypeFilter(),
                request.patternTypeFilter(),
                request.resourceNameFilter(),
                request.principalFilter(),
                request.hostFilter(),
                request.operation(),
                request.permissionType());
    }

    /** @throws IllegalArgumentException if there is no such filter, with a line for the client */
    static AclFilter filter(DeleteAclsFilter request) {
        return filter(
                request.resourceTypeFilter(),
                request.patternTypeFilter(),
                request.resourceNameFilter(),
                request.principalFilter(),
                request.hostFilter(),
                request.operation(),
                request.permissionType());
    }

    private static AclFilter filter(
            byte type, byte pattern, String name, String principal, String host, byte operation, byte permission) {
        return new AclFilter(
                known("resource type", type, AclResourceType.of(type)),
                known("pattern type", pattern, AclPattern.of(pattern)),
                name,
                principal,
                host == null ? null : Asker.hostNamed(host),
                known("operation", operation, AclOperation.of(operation)),
                known("permission type", permission, AclPermission.of(permission)));
    }

    private static <T> T known(String what, byte code, T found) {
        if (found == null) {
            throw new IllegalArgumentException("there is no " + what + " " + code + " here");
        }
        return found;
    }
}
