package io.journalq.server.gateway.http;

import io.netty.handler.codec.http.HttpMethod;

/** Serves one method of one kind of resource. Immutable, any thread. */
public interface Route {
    /** The method. */
    HttpMethod method();

    /** The path, with parameters in braces: {@code /v1/topics/{topic}/records}. */
    String template();

    /** What it does and takes. The routes below {@code /v1} refuse other parameters. */
    RouteDescription description();

    /** How it describes errors. */
    default ErrorForm errors() {
        return ErrorForm.PROBLEM;
    }

    /**
     * Begins a request whose head has arrived. On the loop of the connection.
     *
     * @throws io.journalq.server.gateway.problem.ProblemException if the request is refused
     */
    RequestBody open(HttpExchange exchange);
}
