package io.journalq.server.gateway.http;

import io.netty.handler.codec.http.HttpResponseStatus;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What a route does and takes, for its users: {@link OpenApiRoute} shows it, and requests are checked against its
 * parameters. Immutable, any thread.
 *
 * @param summary what a request does, such as "creates a topic"
 * @param parameters those behind the path
 * @param bodies the types of bodies, each with an example that works; an empty example for a body that is not text. Empty
 *     if requests have no body
 * @param status of a success
 * @param responseType the type of the body of a success; null if it has none
 */
public record RouteDescription(
        String summary,
        List<Parameter> parameters,
        Map<String, String> bodies,
        HttpResponseStatus status,
        String responseType) {
    /** The type of most bodies. */
    public static final String JSON = "application/json";

    /**
     * A parameter behind the path.
     *
     * @param meaning of its values
     * @param example null if it can be left out; otherwise a value that works
     */
    public record Parameter(String name, String meaning, String example) {
        /** A parameter that can be left out. */
        public static Parameter optional(String name, String meaning) {
            return new Parameter(name, meaning, null);
        }
    }

    public RouteDescription {
        parameters = List.copyOf(parameters);
        bodies = new LinkedHashMap<>(bodies);
    }

    /** A route without parameters and bodies, which responds with a JSON object. */
    public static RouteDescription of(String summary) {
        return new RouteDescription(summary, List.of(), Map.of(), HttpResponseStatus.OK, JSON);
    }

    /** The same route with parameters. */
    public RouteDescription with(List<Parameter> its) {
        return new RouteDescription(summary, its, bodies, status, responseType);
    }

    /** The same route, which also takes bodies of a type. */
    public RouteDescription withBody(String type, String example) {
        Map<String, String> all = new LinkedHashMap<>(bodies);
        all.put(type, example);
        return new RouteDescription(summary, parameters, all, status, responseType);
    }

    /** The same route with another response. */
    public RouteDescription responding(HttpResponseStatus itsStatus, String type) {
        return new RouteDescription(summary, parameters, bodies, itsStatus, type);
    }

    /** The names of the parameters, in their order. */
    List<String> names() {
        return parameters.stream().map(Parameter::name).toList();
    }
}
