package io.journalq.server.api.admin.quota;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.*;
import io.journalq.server.api.HandlerTestBase;
import io.journalq.server.api.ServedVersions;
import java.util.List;
import org.junit.jupiter.api.Test;

class AlterClientQuotasHandlerTest extends HandlerTestBase {
    @ServedVersions(ApiKey.ALTER_CLIENT_QUOTAS)
    void shouldSetTheLimitOfTheClient(int version) throws Exception {
        String clientId = newName();

        assertThat(alter("client-id", clientId, version)).isEqualTo(ErrorCode.NONE);

        DescribeClientQuotasRequest request = new DescribeClientQuotasRequest()
                .setComponents(List.of(new DescribeClientQuotasRequest.ComponentData()
                        .setEntityType("client-id")
                        .setMatch(clientId)));
        assertThat(call(DescribeClientQuotasResponse.class, request, 1)
                        .entries()
                        .get(0)
                        .values())
                .singleElement()
                .satisfies(limit -> {
                    assertThat(limit.key()).isEqualTo("producer_byte_rate");
                    assertThat(limit.value()).isEqualTo(1_000);
                });
    }

    @Test
    void shouldRefuseALimitWhenTheTypeOfItsEntityIsUnknown() throws Exception {
        assertThat(alter("team", "shop", 1)).isEqualTo(ErrorCode.INVALID_REQUEST);
    }

    private ErrorCode alter(String type, String name, int version) throws Exception {
        AlterClientQuotasRequest request = new AlterClientQuotasRequest()
                .setEntries(List.of(new AlterClientQuotasRequest.EntryData()
                        .setEntity(List.of(new AlterClientQuotasRequest.EntityData()
                                .setEntityType(type)
                                .setEntityName(name)))
                        .setOps(List.of(new AlterClientQuotasRequest.OpData()
                                .setKey("producer_byte_rate")
                                .setValue(1_000)))));
        AlterClientQuotasResponse.EntryData entry = call(AlterClientQuotasResponse.class, request, version)
                .entries()
                .get(0);
        assertThat(entry.entity().get(0).entityName()).isEqualTo(name);
        return error(entry.errorCode());
    }
}
