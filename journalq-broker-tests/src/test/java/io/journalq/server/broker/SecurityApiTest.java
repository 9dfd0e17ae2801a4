package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.CreateAclsRequest;
import io.journalq.common.protocol.message.CreateAclsResponse;
import io.journalq.common.protocol.message.DeleteAclsRequest;
import io.journalq.common.protocol.message.DeleteAclsResponse;
import io.journalq.common.protocol.message.DescribeAclsRequest;
import io.journalq.common.protocol.message.DescribeAclsResponse;
import io.journalq.common.protocol.message.DescribeUserScramCredentialsRequest;
import io.journalq.common.protocol.message.DescribeUserScramCredentialsResponse;
import io.journalq.common.protocol.message.DescribeUserScramCredentialsResponse.DescribeUserScramCredentialsResult;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclBindingFilter;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.errors.ResourceNotFoundException;
import org.apache.kafka.common.errors.SecurityDisabledException;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Requests about users and access control: the broker responds like Kafka without an authorizer. */
class SecurityApiTest {
    private static final long SECONDS = 20;

    private static final byte TOPIC = 2;
    private static final byte LITERAL = 3;
    private static final byte READ = 3;
    private static final byte ALLOW = 3;
    private static final int LOWEST_ACL_VERSION = 1;
    private static final int HIGHEST_ACL_VERSION = 3;

    @TempDir
    Path directory;

    private TestBroker broker;
    private Admin admin;

    @BeforeEach
    void start() throws Exception {
        broker = new TestBroker(directory).start();
        admin = broker.admin();
    }

    @AfterEach
    void stop() {
        admin.close();
        broker.close();
    }

    @Test
    void shouldDescribeNoUsersWhenAllAreAskedFor() throws Exception {
        assertThat(get(admin.describeUserScramCredentials().all())).isEmpty();
    }

    @Test
    void shouldSayThatAUserHasNoCredentialsWhenItIsNamed() {
        assertThatThrownBy(() ->
                        get(admin.describeUserScramCredentials(List.of("ada")).description("ada")))
                .cause()
                .isInstanceOf(ResourceNotFoundException.class)
                .hasMessageContaining("ada");
    }

    @Test
    void shouldListEachNamedUserOnce() throws Exception {
        try (WireClient client = new WireClient(broker.port())) {
            DescribeUserScramCredentialsRequest request =
                    new DescribeUserScramCredentialsRequest().setUsers(List.of(user("ada"), user("bob"), user("ada")));

            DescribeUserScramCredentialsResponse response =
                    client.call(DescribeUserScramCredentialsResponse.class, request, 0);

            assertThat(response.errorCode()).isEqualTo(ErrorCode.NONE.code());
            assertThat(response.results())
                    .extracting(DescribeUserScramCredentialsResult::user, DescribeUserScramCredentialsResult::errorCode)
                    .containsExactly(
                            org.assertj.core.groups.Tuple.tuple("ada", ErrorCode.DUPLICATE_RESOURCE.code()),
                            org.assertj.core.groups.Tuple.tuple("bob", ErrorCode.RESOURCE_NOT_FOUND.code()));
        }
    }

    @Test
    void shouldSayThatSecurityIsDisabledWhenAclsAreAskedFor() {
        AclBinding acl = new AclBinding(
                new ResourcePattern(ResourceType.TOPIC, "orders", PatternType.LITERAL),
                new AccessControlEntry("User:ada", "*", AclOperation.READ, AclPermissionType.ALLOW));

        assertDisabled(admin.describeAcls(AclBindingFilter.ANY).values());
        assertDisabled(admin.createAcls(List.of(acl)).all());
        assertDisabled(admin.deleteAcls(List.of(AclBindingFilter.ANY)).all());
    }

    @Test
    void shouldSayThatSecurityIsDisabledInTheLowestAndTheHighestVersion() throws Exception {
        for (int version = LOWEST_ACL_VERSION; version <= HIGHEST_ACL_VERSION; version++) {
            try (WireClient client = new WireClient(broker.port())) {
                DescribeAclsResponse described = client.call(
                        DescribeAclsResponse.class,
                        new DescribeAclsRequest()
                                .setResourceTypeFilter(TOPIC)
                                .setPatternTypeFilter(LITERAL)
                                .setOperation(READ)
                                .setPermissionType(ALLOW),
                        version);
                assertThat(described.errorCode()).isEqualTo(ErrorCode.SECURITY_DISABLED.code());
                assertThat(described.errorMessage()).contains("No Authorizer");
                assertThat(described.resources()).isEmpty();

                CreateAclsRequest.AclCreation creation = new CreateAclsRequest.AclCreation()
                        .setResourceType(TOPIC)
                        .setResourceName("orders")
                        .setResourcePatternType(LITERAL)
                        .setPrincipal("User:ada")
                        .setHost("*")
                        .setOperation(READ)
                        .setPermissionType(ALLOW);
                CreateAclsResponse created = client.call(
                        CreateAclsResponse.class,
                        new CreateAclsRequest().setCreations(List.of(creation, creation)),
                        version);
                assertThat(created.results())
                        .extracting(CreateAclsResponse.AclCreationResult::errorCode)
                        .containsExactly(ErrorCode.SECURITY_DISABLED.code(), ErrorCode.SECURITY_DISABLED.code());

                DeleteAclsRequest.DeleteAclsFilter filter = new DeleteAclsRequest.DeleteAclsFilter()
                        .setResourceTypeFilter(TOPIC)
                        .setPatternTypeFilter(LITERAL)
                        .setOperation(READ)
                        .setPermissionType(ALLOW);
                DeleteAclsResponse deleted = client.call(
                        DeleteAclsResponse.class, new DeleteAclsRequest().setFilters(List.of(filter, filter)), version);
                assertThat(deleted.filterResults())
                        .extracting(DeleteAclsResponse.DeleteAclsFilterResult::errorCode)
                        .containsExactly(ErrorCode.SECURITY_DISABLED.code(), ErrorCode.SECURITY_DISABLED.code());
            }
        }
    }

    private static DescribeUserScramCredentialsRequest.UserName user(String name) {
        return new DescribeUserScramCredentialsRequest.UserName().setName(name);
    }

    private static void assertDisabled(KafkaFuture<?> future) {
        assertThatThrownBy(() -> get(future)).hasCauseInstanceOf(SecurityDisabledException.class);
    }

    private static <T> T get(KafkaFuture<T> future) throws Exception {
        return future.get(SECONDS, TimeUnit.SECONDS);
    }
}
