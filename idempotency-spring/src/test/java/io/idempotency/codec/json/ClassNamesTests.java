package io.idempotency.codec.json;

import java.lang.reflect.Type;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import io.idempotency.codec.ResultCodec;
import io.idempotency.codec.UnreadableResultException;
import io.idempotency.store.StoredResult;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Whoever can write to the store must never choose a class. */
class ClassNamesTests {

	private static final AtomicInteger made = new AtomicInteger();

	static Stream<Named<ResultCodec>> codecs() {
		return Stream.of(Named.of("Jackson 2", new Jackson2ResultCodec()),
				Named.of("Jackson 3", new Jackson3ResultCodec()));
	}

	@ParameterizedTest
	@MethodSource("codecs")
	void whatNamesNoClassesIsAccepted(ResultCodec codec) {
		assertThat(codec.unsupported(ByName.class)).isNull();
		assertThat(codec.unsupported(Node.class)).isNull();
		assertThat(codec.unsupported(Anything.class)).isNull();
	}

	@ParameterizedTest
	@MethodSource("codecs")
	void aClassNameFromTheStoreIsNeverFollowed(ResultCodec codec) {
		String json = "{\"a\":\"x\",\"payload\":{\"@class\":\"" + Gadget.class.getName() + "\"}}";
		StoredResult planted = new StoredResult("json1", json.getBytes(StandardCharsets.UTF_8));
		assertThatExceptionOfType(UnreadableResultException.class)
			.isThrownBy(() -> codec.decode(planted, Nested.class));
		assertThat(made).hasValue(0);
	}

	/** What comes alive as soon as it is named. */
	static class Gadget {

		static {
			made.incrementAndGet();
		}

	}

	record Nested(String a, @JsonTypeInfo(use = JsonTypeInfo.Id.CLASS) Object payload) {
	}

	record ByName(@JsonTypeInfo(use = JsonTypeInfo.Id.NAME) @JsonSubTypes(@JsonSubTypes.Type(value = Node.class,
			name = "node")) Object payload) {
	}

	record Node(String name, List<Node> children, Node parent) {
	}

	record Anything(Object payload) {
	}

}
