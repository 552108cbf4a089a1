package io.idempotency.codec.json;

import java.lang.reflect.Type;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.idempotency.codec.ResultCodec;
import io.idempotency.codec.UnreadableResultException;
import io.idempotency.store.StoredResult;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.core.ParameterizedTypeReference;

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
	void aPropertyThatNamesClassesIsRefusedLikeItsType(ResultCodec codec) {
		assertRefused(codec, Nested.class, "payload");
		assertRefused(codec, Minimal.class, "payload");
		assertRefused(codec, Outer.class, "nested.payload");
		assertRefused(codec, Deep.class, "outers.nested.payload");
		assertRefused(codec, HoldsNamed.class, "named");
		assertRefused(codec, Elements.class, "all");
		assertRefused(codec, Setter.class, "payload");
		assertRefused(codec, Shape.class, "payload");
		assertRefused(codec, new ParameterizedTypeReference<Optional<Map<String, List<Nested>>>>() {
		}.getType(), "payload");
		assertRefused(codec, new ParameterizedTypeReference<Page<HoldsNamed>>() {
		}.getType(), "content.named");
		assertRefused(codec, Nested[].class, "payload");
	}

	private static void assertRefused(ResultCodec codec, Type type, String path) {
		assertThat(codec.unsupported(type)).as(type.getTypeName())
			.contains("cannot be stored", "'" + path + "'", "class names", "JsonTypeInfo.Id.NAME");
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

	@ParameterizedTest
	@MethodSource("mixed")
	void aMixInIsAnAnnotationToo(ResultCodec codec) {
		assertRefused(codec, Anything.class, "payload");
	}

	static Stream<Named<ResultCodec>> mixed() {
		return Stream.of(
				Named.of("Jackson 2",
						new Jackson2ResultCodec(new ObjectMapper().addMixIn(Anything.class, Mixed.class))),
				Named.of("Jackson 3",
						new Jackson3ResultCodec(tools.jackson.databind.json.JsonMapper.builder()
							.addMixIn(Anything.class, Mixed.class)
							.build())));
	}

	/** What comes alive as soon as it is named. */
	static class Gadget {

		static {
			made.incrementAndGet();
		}

	}

	record Nested(String a, @JsonTypeInfo(use = JsonTypeInfo.Id.CLASS) Object payload) {
	}

	record Minimal(@JsonTypeInfo(use = JsonTypeInfo.Id.MINIMAL_CLASS) Object payload) {
	}

	record Outer(Nested nested) {
	}

	record Deep(Map<String, List<Outer>> outers) {
	}

	@JsonTypeInfo(use = JsonTypeInfo.Id.CLASS)
	interface Named1 {

	}

	record HoldsNamed(Named1 named) {
	}

	record Elements(@JsonTypeInfo(use = JsonTypeInfo.Id.CLASS) List<Object> all) {
	}

	record Page<T>(List<T> content) {
	}

	static class Setter {

		@JsonTypeInfo(use = JsonTypeInfo.Id.CLASS)
		public void setPayload(Object payload) {
		}

	}

	@JsonTypeInfo(use = JsonTypeInfo.Id.NAME)
	@JsonSubTypes(@JsonSubTypes.Type(value = Circle.class, name = "circle"))
	interface Shape {

	}

	record Circle(@JsonTypeInfo(use = JsonTypeInfo.Id.CLASS) Object payload) implements Shape {
	}

	record ByName(@JsonTypeInfo(use = JsonTypeInfo.Id.NAME) @JsonSubTypes(@JsonSubTypes.Type(value = Node.class,
			name = "node")) Object payload) {
	}

	record Node(String name, List<Node> children, Node parent) {
	}

	record Anything(Object payload) {
	}

	abstract static class Mixed {

		@JsonTypeInfo(use = JsonTypeInfo.Id.CLASS)
		Object payload;

	}

}
