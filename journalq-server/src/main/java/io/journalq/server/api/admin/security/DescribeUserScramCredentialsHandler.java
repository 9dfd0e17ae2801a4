package io.journalq.server.api.admin.security;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.DescribeUserScramCredentialsRequest;
import io.journalq.common.protocol.message.DescribeUserScramCredentialsRequest.UserName;
import io.journalq.common.protocol.message.DescribeUserScramCredentialsResponse;
import io.journalq.common.protocol.message.DescribeUserScramCredentialsResponse.DescribeUserScramCredentialsResult;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RequestContext;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * DescribeUserScramCredentials, version 0 (KIP-554). No user has credentials. A request for all users gets an empty
 * response. A named user gets RESOURCE_NOT_FOUND, or DUPLICATE_RESOURCE if the request names it twice.
 */
public final class DescribeUserScramCredentialsHandler implements Handler<DescribeUserScramCredentialsRequest> {
    @Override
    public ServedApi api() {
        return new ServedApi(ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS, 0, 0);
    }

    @Override
    public void handle(RequestContext context, DescribeUserScramCredentialsRequest request) {
        Map<String, Integer> occurrences = new LinkedHashMap<>();
        if (request.users() != null) {
            for (UserName user : request.users()) {
                occurrences.merge(user.name(), 1, Integer::sum);
            }
        }
        List<DescribeUserScramCredentialsResult> results = new ArrayList<>();
        occurrences.forEach((user, count) -> results.add(result(user, count)));
        context.respond(new DescribeUserScramCredentialsResponse().setResults(results));
    }

    private static DescribeUserScramCredentialsResult result(String user, int count) {
        DescribeUserScramCredentialsResult result = new DescribeUserScramCredentialsResult().setUser(user);
        return count == 1
                ? result.setErrorCode(ErrorCode.RESOURCE_NOT_FOUND.code())
                        .setErrorMessage("Attempt to describe a user credential that does not exist: " + user)
                : result.setErrorCode(ErrorCode.DUPLICATE_RESOURCE.code())
                        .setErrorMessage(
                                "Cannot describe SCRAM credentials for the same user twice in a single request: "
                                        + user);
    }
}
