package io.journalq.server.gateway.http;

import io.journalq.server.gateway.problem.Problem;
import io.journalq.server.gateway.problem.ProblemType;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.QueryStringDecoder;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The routes of the gateway. Immutable, any thread. */
public final class Routes {
    private static final int MAX_PARAMETERS = 32;

    private final List<Entry> entries;

    private record Entry(Route route, List<String> segments) {
        /** The parameters of a path; null if the path is not this route's. */
        Map<String, String> match(List<String> path) {
            if (path.size() != segments.size()) {
                return null;
            }
            Map<String, String> parameters = new LinkedHashMap<>();
            for (int i = 0; i < path.size(); i++) {
                String segment = segments.get(i);
                if (isParameter(segment)) {
                    parameters.put(segment.substring(1, segment.length() - 1), decoded(path.get(i)));
                } else if (!segment.equals(path.get(i))) {
                    return null;
                }
            }
            return parameters;
        }

        private static boolean isParameter(String segment) {
            return segment.startsWith("{");
        }
    }

    /**
     * The route of a request.
     *
     * @param path the parameters in its path
     * @param query the parameters behind its path, each with its values
     */
    record Match(Route route, Map<String, String> path, Map<String, List<String>> query) {}

    public Routes(List<Route> routes) {
        this.entries = routes.stream()
                .map(route -> new Entry(route, segments(route.template())))
                .toList();
    }

    /** Finds the route of a request. */
    Match find(HttpMethod method, String target) {
        QueryStringDecoder uri = query(target);
        List<String> path = segments(uri.rawPath());
        List<String> methods = new ArrayList<>();
        for (Entry entry : entries) {
            Map<String, String> parameters = entry.match(path);
            if (parameters != null && entry.route().method().equals(method)) {
                return new Match(entry.route(), parameters, parameters(uri));
            }
            if (parameters != null) {
                methods.add(entry.route().method().name());
            }
        }
        if (methods.isEmpty()) {
            throw new Problem(
                            ProblemType.NO_SUCH_RESOURCE,
                            "no resource has this path",
                            "see docs/guides/http.md for the resources")
                    .exception();
        }
        throw new Problem(
                        ProblemType.METHOD_NOT_ALLOWED,
                        "the resource supports " + String.join(", ", methods),
                        "use one of these methods",
                        Map.of("Allow", String.join(", ", methods)))
                .exception();
    }

    private static QueryStringDecoder query(String target) {
        return QueryStringDecoder.builder().maxParams(MAX_PARAMETERS).build(target);
    }

    private static Map<String, List<String>> parameters(QueryStringDecoder uri) {
        try {
            return uri.parameters();
        } catch (IllegalArgumentException malformed) {
            throw undecodable();
        }
    }

    private static String decoded(String segment) {
        try {
            return QueryStringDecoder.decodeComponent(segment);
        } catch (IllegalArgumentException malformed) {
            throw undecodable();
        }
    }

    private static RuntimeException undecodable() {
        return new Problem(
                        ProblemType.INVALID_PARAMETER,
                        "the path or its parameters are not percent-encoded UTF-8",
                        "encode them, for example with curl --data-urlencode")
                .exception();
    }

    private static List<String> segments(String path) {
        return List.of(path.substring(1).split("/", -1));
    }
}
