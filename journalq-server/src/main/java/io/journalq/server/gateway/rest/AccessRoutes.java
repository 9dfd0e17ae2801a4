package io.journalq.server.gateway.rest;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.message.DescribeAclsRequest;
import io.journalq.common.protocol.message.DescribeAclsResponse;
import io.journalq.common.protocol.message.DescribeUserScramCredentialsRequest;
import io.journalq.common.protocol.message.DescribeUserScramCredentialsResponse;
import io.journalq.common.protocol.message.DescribeUserScramCredentialsResponse.DescribeUserScramCredentialsResult;
import io.journalq.server.gateway.http.Route;
import io.journalq.server.gateway.problem.ProtocolErrors;
import io.journalq.server.gateway.rest.ListQuery.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** {@code /v1/acls} and {@code /v1/users}: who may do what, and who can log in with a password. Stateless. */
final class AccessRoutes {
    private static final byte ANY = 1;
    private static final int ACL_BYTES = 200;
    private static final int USER_BYTES = 120;

    /** Names of the numbers of the protocol (org.apache.kafka.common.resource, org.apache.kafka.common.acl). */
    private static final List<String> RESOURCE_TYPES =
            List.of("unknown", "any", "topic", "group", "cluster", "transactional-id", "delegation-token", "user");

    private static final List<String> PATTERN_TYPES = List.of("unknown", "any", "match", "literal", "prefixed");
    private static final List<String> OPERATIONS = List.of(
            "unknown",
            "any",
            "all",
            "read",
            "write",
            "create",
            "delete",
            "alter",
            "describe",
            "cluster-action",
            "describe-configs",
            "alter-configs",
            "idempotent-write",
            "create-tokens",
            "describe-tokens",
            "two-phase-commit");
    private static final List<String> PERMISSIONS = List.of("unknown", "any", "deny", "allow");

    private static final ListQuery.Shape<Rule> ACLS = new ListQuery.Shape<>(
            Rule::name,
            List.of(
                    Field.text("principal", Rule::principal),
                    Field.text("resource", rule -> rule.resourceType() + " " + rule.resource())),
            rule -> ACL_BYTES + 2 * rule.name().length());

    private static final ListQuery.Shape<DescribeUserScramCredentialsResult> USERS = new ListQuery.Shape<>(
            DescribeUserScramCredentialsResult::user,
            List.of(Field.text("name", DescribeUserScramCredentialsResult::user)),
            user -> USER_BYTES + 2 * user.user().length());

    private AccessRoutes() {}

    private record Rule(
            String principal,
            String host,
            String permission,
            String operation,
            String resourceType,
            String pattern,
            String resource) {
        String name() {
            return String.join(" ", principal, permission, operation, resourceType, pattern, resource, host);
        }
    }

    static List<Route> routes() {
        return List.of(
                RestRoute.get(
                        "/v1/acls", ListQuery.description("lists the access control lists"), AccessRoutes::listAcls),
                RestRoute.get(
                        "/v1/users",
                        ListQuery.description("lists the users that have passwords"),
                        AccessRoutes::listUsers));
    }

    private static String name(List<String> names, byte number) {
        return number >= 0 && number < names.size() ? names.get(number) : String.valueOf(number);
    }

    private static void listAcls(RestRequest request) {
        ListQuery query = ListQuery.of(request.exchange());
        DescribeAclsRequest message = new DescribeAclsRequest()
                .setResourceTypeFilter(ANY)
                .setResourceNameFilter(null)
                .setPatternTypeFilter(ANY)
                .setPrincipalFilter(null)
                .setHostFilter(null)
                .setOperation(ANY)
                .setPermissionType(ANY);
        request.call(ApiKey.DESCRIBE_ACLS, 3, message, DescribeAclsResponse.class, response -> {
            ProtocolErrors.check(response.errorCode(), response.errorMessage(), "ACLs");
            List<Rule> rules = new ArrayList<>();
            response.resources().forEach(resource -> resource.acls()
                    .forEach(acl -> rules.add(new Rule(
                            acl.principal(),
                            acl.host(),
                            name(PERMISSIONS, acl.permissionType()),
                            name(OPERATIONS, acl.operation()),
                            name(RESOURCE_TYPES, resource.resourceType()),
                            name(PATTERN_TYPES, resource.patternType()),
                            resource.resourceName()))));
            request.respond(query.page(rules, ACLS), (json, rule) -> {
                json.writeStringField("principal", rule.principal());
                json.writeStringField("host", rule.host());
                json.writeStringField("permission", rule.permission());
                json.writeStringField("operation", rule.operation());
                json.writeStringField("resourceType", rule.resourceType());
                json.writeStringField("pattern", rule.pattern());
                json.writeStringField("resource", rule.resource());
            });
        });
    }

    private static void listUsers(RestRequest request) {
        ListQuery query = ListQuery.of(request.exchange());
        request.call(
                ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS,
                0,
                new DescribeUserScramCredentialsRequest().setUsers(null),
                DescribeUserScramCredentialsResponse.class,
                response -> {
                    ProtocolErrors.check(response.errorCode(), response.errorMessage(), "users");
                    request.respond(query.page(response.results(), USERS), (json, user) -> {
                        json.writeStringField("name", user.user());
                        json.writeArrayFieldStart("mechanisms");
                        for (DescribeUserScramCredentialsResponse.CredentialInfo one : user.credentialInfos()) {
                            json.writeString(mechanism(one.mechanism()));
                        }
                        json.writeEndArray();
                    });
                });
    }

    private static String mechanism(byte number) {
        return switch (number) {
            case 1 -> "SCRAM-SHA-256";
            case 2 -> "SCRAM-SHA-512";
            default -> String.valueOf(number).toLowerCase(Locale.ROOT);
        };
    }
}
