package io.journalq.server.gateway.rest;

import com.fasterxml.jackson.core.JsonGenerator;
import io.journalq.server.gateway.http.HttpExchange;
import io.journalq.server.gateway.http.RouteDescription;
import io.journalq.server.gateway.http.RouteDescription.Parameter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.ToIntFunction;

/**
 * Which part of a list a request asks for. Immutable.
 *
 * <ul>
 * <li>{@code query=}: only items whose name contains this text, in any case.
 * <li>{@code sort=}: the field that determines the order; descending with a minus before it.
 * <li>{@code limit=}: maximum number of items, up to {@link #MAX_LIMIT}.
 * <li>{@code cursor=}: continues behind the page that has returned it. Items that are added or removed in between change
 *     nothing else.
 * </ul>
 */
final class ListQuery {
    static final List<Parameter> PARAMETERS = List.of(
            Parameter.optional("query", "only items whose name contains this text, in any case"),
            Parameter.optional("sort", "the field that determines the order; descending with a minus before it"),
            Parameter.optional("limit", "maximum number of items: at most 500, by default 100"),
            Parameter.optional("cursor", "continue behind the page that has returned it"));

    static final int MAX_LIMIT = 500;
    private static final int DEFAULT_LIMIT = 100;

    /** Maximum size of the items of a page. Fewer items than asked for are returned if they would be larger. */
    private static final int MAX_PAGE_BYTES = 60 * 1024;

    private static final char SEPARATOR = ':';

    private final String query;
    private final String sort;
    private final boolean descending;
    private final int limit;
    private final String cursor;

    /** Writes the members of an item. */
    @FunctionalInterface
    interface ItemWriter<T> {
        void write(JsonGenerator json, T item) throws IOException;
    }

    /**
     * A field by which a list can be sorted. Items with the same value are sorted by their ids.
     *
     * @param text whether the values are strings, and otherwise numbers
     */
    record Field<T>(String name, boolean text, Function<T, Object> value) {
        static <T> Field<T> text(String name, Function<T, String> value) {
            return new Field<>(name, true, value::apply);
        }

        static <T> Field<T> number(String name, Function<T, Long> value) {
            return new Field<>(name, false, value::apply);
        }

        private Object read(String shown) {
            return text ? shown : (Object) Long.parseLong(shown);
        }

        private static int compare(Object left, Object right) {
            return left instanceof String text
                    ? text.compareTo((String) right)
                    : Long.compare((Long) left, (Long) right);
        }
    }

    /**
     * What lists of a kind consist of.
     *
     * @param id the unique name of an item, which determines its place among those with the same value
     * @param searched the text in which a query is looked for
     * @param fields by which the list can be sorted; the first is the default
     * @param sizeBytes an upper bound of the size of an item in a response
     */
    record Shape<T>(
            Function<T, String> id, Function<T, String> searched, List<Field<T>> fields, ToIntFunction<T> sizeBytes) {
        Shape(Function<T, String> id, List<Field<T>> fields, ToIntFunction<T> sizeBytes) {
            this(id, id, fields, sizeBytes);
        }
    }

    /**
     * A part of a list.
     *
     * @param total number of items of the list
     * @param matching number of items that match the query
     * @param cursor where the next page begins; null if there is none
     */
    record Page<T>(List<T> items, int total, int matching, String cursor) {}

    private ListQuery(String query, String sort, boolean descending, int limit, String cursor) {
        this.query = query;
        this.sort = sort;
        this.descending = descending;
        this.limit = limit;
        this.cursor = cursor;
    }

    /** The description of a route that responds with a list. */
    static RouteDescription description(String summary) {
        return RouteDescription.of(summary).with(PARAMETERS);
    }

    /** Reads the parameters of a request. */
    static ListQuery of(HttpExchange exchange) {
        String query = exchange.parameter("query");
        String sort = exchange.parameter("sort");
        boolean descending = sort != null && sort.startsWith("-");
        return new ListQuery(
                query == null ? "" : query.toLowerCase(Locale.ROOT),
                descending ? sort.substring(1) : sort,
                descending,
                limit(exchange.parameter("limit")),
                exchange.parameter("cursor"));
    }

    private static int limit(String text) {
        if (text == null) {
            return DEFAULT_LIMIT;
        }
        try {
            int limit = Integer.parseInt(text);
            if (limit >= 1 && limit <= MAX_LIMIT) {
                return limit;
            }
        } catch (NumberFormatException notANumber) {
            // handled below, with the message for both cases
        }
        throw HttpExchange.invalid("limit is not a number from 1 to " + MAX_LIMIT, "send limit=100");
    }

    /** The field by which the list is sorted; null for the default. */
    String sort() {
        return sort;
    }

    /** The items that match, in order, up to the limit. */
    <T> Page<T> page(List<T> all, Shape<T> shape) {
        return page(all, shape, item -> true);
    }

    /** The same, of the items that match a filter, too. */
    <T> Page<T> page(List<T> all, Shape<T> shape, Predicate<T> filter) {
        Field<T> field = field(shape);
        Comparator<T> order = (left, right) ->
                Field.compare(field.value().apply(left), field.value().apply(right));
        order = order.thenComparing(shape.id());
        List<T> matching = new ArrayList<>();
        for (T item : all) {
            if (filter.test(item)
                    && shape.searched().apply(item).toLowerCase(Locale.ROOT).contains(query)) {
                matching.add(item);
            }
        }
        matching.sort(descending ? order.reversed() : order);
        int from = cursor == null ? 0 : firstBehindCursor(matching, field, shape);
        int to = from;
        int sizeBytes = 0;
        while (to < matching.size() && to - from < limit) {
            sizeBytes += shape.sizeBytes().applyAsInt(matching.get(to));
            if (sizeBytes > MAX_PAGE_BYTES && to > from) {
                break;
            }
            to++;
        }
        return new Page<>(
                List.copyOf(matching.subList(from, to)),
                all.size(),
                matching.size(),
                to < matching.size() && to > from ? cursor(matching.get(to - 1), field, shape) : null);
    }

    private <T> Field<T> field(Shape<T> shape) {
        if (sort == null) {
            return shape.fields().get(0);
        }
        return shape.fields().stream()
                .filter(field -> field.name().equals(sort))
                .findFirst()
                .orElseThrow(() -> HttpExchange.invalid(
                        "the list cannot be sorted by this",
                        "sort by one of "
                                + String.join(
                                        ", ",
                                        shape.fields().stream().map(Field::name).toList())));
    }

    private static <T> String cursor(T last, Field<T> field, Shape<T> shape) {
        String value = String.valueOf(field.value().apply(last));
        // With its length, because values and ids can contain any character.
        String position = value.length() + "" + SEPARATOR + value + shape.id().apply(last);
        return Base64.getUrlEncoder().withoutPadding().encodeToString(position.getBytes(StandardCharsets.UTF_8));
    }

    private <T> int firstBehindCursor(List<T> sorted, Field<T> field, Shape<T> shape) {
        try {
            String position = new String(Base64.getUrlDecoder().decode(cursor), StandardCharsets.UTF_8);
            int start = position.indexOf(SEPARATOR) + 1;
            int end = start + Integer.parseInt(position.substring(0, start - 1));
            Object value = field.read(position.substring(start, end));
            String id = position.substring(end);
            int sign = descending ? -1 : 1;
            int index = 0;
            while (index < sorted.size() && sign * compare(sorted.get(index), field, shape, value, id) <= 0) {
                index++;
            }
            return index;
        } catch (IllegalArgumentException | IndexOutOfBoundsException malformed) {
            throw HttpExchange.invalid(
                    "the cursor is not one of this list in this order", "send the cursor of the last page as it is");
        }
    }

    private static <T> int compare(T item, Field<T> field, Shape<T> shape, Object value, String id) {
        int order = Field.compare(field.value().apply(item), value);
        return order != 0 ? order : shape.id().apply(item).compareTo(id);
    }
}
