package io.journalq.server.api.admin.quota;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.*;
import io.journalq.server.api.HandlerTestBase;
import io.journalq.server.api.ServedVersions;
import java.util.List;
import org.junit.jupiter.api.Test;

class DescribeClientQuotasHandlerTest extends HandlerTestBase {
    @ServedVersions(ApiKey.DESCRIBE_CLIENT_QUOTAS)
    void shouldDescribeTheLimitsOfTheUser(int version) throws Exception {
        String user = newName();
        AlterClientQuotasRequest set = new AlterClientQuotasRequest()
                .setEntries(List.of(new AlterClientQuotasRequest.EntryData()
                        .setEntity(List.of(new AlterClientQuotasRequest.EntityData()
                                .setEntityType("user")
                                .setEntityName(user)))
                        .setOps(List.of(new AlterClientQuotasRequest.OpData()
                                .setKey("consumer_byte_rate")
                                .setValue(2_000)))));
        assertThat(error(call(AlterClientQuotasResponse.class, set, 1)
                        .entries()
                        .get(0)
                        .errorCode()))
                .isEqualTo(ErrorCode.NONE);

        DescribeClientQuotasResponse response = describe("user", user, version);

        assertThat(error(response.errorCode())).isEqualTo(ErrorCode.NONE);
        assertThat(response.entries()).singleElement().satisfies(entry -> {
            assertThat(entry.entity().get(0).entityName()).isEqualTo(user);
            assertThat(entry.values().get(0).key()).isEqualTo("consumer_byte_rate");
            assertThat(entry.values().get(0).value()).isEqualTo(2_000);
        });
    }

    @Test
    void shouldReportAnErrorWhenTheTypeOfTheEntityIsUnknown() throws Exception {
        DescribeClientQuotasResponse response = describe("planet", "mars", 1);

        assertThat(error(response.errorCode())).isEqualTo(ErrorCode.INVALID_REQUEST);
        assertThat(response.errorMessage()).contains("planet");
    }

    private DescribeClientQuotasResponse describe(String type, String name, int version) throws Exception {
        DescribeClientQuotasRequest request = new DescribeClientQuotasRequest()
                .setComponents(List.of(new DescribeClientQuotasRequest.ComponentData()
                        .setEntityType(type)
                        .setMatch(name)));
        return call(DescribeClientQuotasResponse.class, request, version);
    }
}
