package io.journalq.server.broker;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.zip.GZIPOutputStream;
import javax.net.ssl.SSLContext;

/** Calls of the HTTP gateway of a broker, with Java's client and over raw sockets. */
final class GatewayClient {
    static final String JSON = "application/json";
    static final String NDJSON = "application/x-ndjson";
    static final String BYTES = "application/octet-stream";

    private static final int TIMEOUT_MS = 60_000;

    private final HttpClient client;
    private final String scheme;
    private final int port;

    GatewayClient(int port) {
        this.client = HttpClient.newHttpClient();
        this.scheme = "http";
        this.port = port;
    }

    /** Speaks TLS. */
    GatewayClient(int port, SSLContext tls) {
        this.client = HttpClient.newBuilder().sslContext(tls).build();
        this.scheme = "https";
        this.port = port;
    }

    HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(URI.create(scheme + "://127.0.0.1:" + port + path))
                .timeout(Duration.ofMillis(TIMEOUT_MS));
    }

    HttpResponse<String> send(HttpRequest.Builder request) throws IOException, InterruptedException {
        return client.send(request.build(), BodyHandlers.ofString());
    }

    /** Returns when the head of the response has arrived. */
    HttpResponse<InputStream> stream(HttpRequest.Builder request) throws IOException, InterruptedException {
        return client.send(request.build(), BodyHandlers.ofInputStream());
    }

    HttpResponse<String> get(String path) throws IOException, InterruptedException {
        return send(request(path));
    }

    HttpResponse<String> post(String path, String type, String body, String... headers)
            throws IOException, InterruptedException {
        return post(path, type, BodyPublishers.ofString(body), headers);
    }

    HttpResponse<String> post(String path, String type, BodyPublisher body, String... headers)
            throws IOException, InterruptedException {
        HttpRequest.Builder request = request(path).header("Content-Type", type).POST(body);
        if (headers.length > 0) {
            request.headers(headers);
        }
        return send(request);
    }

    /** Opens a raw connection. */
    Socket connect() throws IOException {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.setSoTimeout(TIMEOUT_MS);
        return socket;
    }

    /** The same with a small receive buffer, so that the broker soon cannot send more. */
    Socket connect(int receiveBufferBytes) throws IOException {
        Socket socket = new Socket();
        socket.setReceiveBufferSize(receiveBufferBytes);
        socket.setSoTimeout(TIMEOUT_MS);
        socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        return socket;
    }

    /** Sends text over a new connection, and returns everything until the broker closes it. */
    String exchange(String text) throws IOException {
        try (Socket socket = connect()) {
            socket.getOutputStream().write(text.getBytes(ISO_8859_1));
            return readAll(socket);
        }
    }

    static String readAll(Socket socket) throws IOException {
        return new String(socket.getInputStream().readAllBytes(), UTF_8);
    }

    /** Reads a response up to the end of its head. */
    static String readHead(Socket socket) throws IOException {
        InputStream in = socket.getInputStream();
        StringBuilder head = new StringBuilder();
        while (head.indexOf("\r\n\r\n") < 0) {
            int next = in.read();
            if (next < 0) {
                break;
            }
            head.append((char) next);
        }
        return head.toString();
    }

    static byte[] gzip(byte[] bytes) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (GZIPOutputStream gzip = new GZIPOutputStream(out)) {
            gzip.write(bytes);
        }
        return out.toByteArray();
    }
}
