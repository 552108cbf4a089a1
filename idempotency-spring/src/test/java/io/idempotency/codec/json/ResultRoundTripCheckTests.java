package io.idempotency.codec.json;

import java.lang.reflect.Type;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import io.idempotency.codec.ResultCodec;
import io.idempotency.store.StoredResult;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.core.ParameterizedTypeReference;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

/** A result that comes back different is told once, and changes nothing. */
@ExtendWith(OutputCaptureExtension.class)
class ResultRoundTripCheckTests {

	static Stream<Named<ResultCodec>> codecs() {
		return Stream.of(Named.of("Jackson 2", new Jackson2ResultCodec()),
				Named.of("Jackson 3", new Jackson3ResultCodec()));
	}

	private static void assertReported(ResultCodec codec, Object value, Type type, String path, CapturedOutput output) {
		int before = output.getOut().length();
		ResultCodec first = new ResultRoundTripCheck(codec).of("pay");
		StoredResult stored = first.encode(value, type);
		assertThat(stored.bytes()).isEqualTo(codec.encode(value, type).bytes());
		first.encode(value, type);
		String log = output.getOut().substring(before);
		assertThat(log).containsOnlyOnce("WARN").contains("'pay'", type.getTypeName(), "'" + path + "'", "ResultCodec");
		assertThat(log).doesNotContain("4111", "\tat ");
	}

	@ParameterizedTest
	@MethodSource("codecs")
	void aDifferenceIsReportedOnceWithItsPath(ResultCodec codec, CapturedOutput output) {
		assertReported(codec, new Hidden("a", "4111"), Hidden.class, "secret", output);
		assertReported(codec, new HiddenBean("a", "4111"), HiddenBean.class, "secret", output);
		assertReported(codec, new Holder(List.of(new Hidden("a", "4111"))), Holder.class, "all[0].secret", output);
		assertReported(codec, new Masked("4111"), Masked.class, "card", output);
		assertReported(codec, new Dog("Rex", 4), Animal.class, "", output);
		assertReported(codec, new Zoo(new Dog("Rex", 4)), Zoo.class, "animal", output);
		assertReported(codec, new Sparse(List.of()), Sparse.class, "names", output);
		assertReported(codec, new Anything(new Hidden("a", null)), Anything.class, "payload", output);
		assertReported(codec, new Anything(5L), Anything.class, "payload", output);
		assertReported(codec, Optional.of(new Hidden("a", "4111")), new ParameterizedTypeReference<Optional<Hidden>>() {
		}.getType(), "secret", output);
		assertReported(codec, Map.of("k", new Hidden("a", "4111")),
				new ParameterizedTypeReference<Map<String, Hidden>>() {
				}.getType(), "[].secret", output);
		assertReported(codec, Set.of(new Hidden("a", "4111")), new ParameterizedTypeReference<Set<Hidden>>() {
		}.getType(), "[]", output);
	}

	@ParameterizedTest
	@MethodSource("codecs")
	void whatEqualsOverlooksIsSeenInTheJson(ResultCodec codec, CapturedOutput output) {
		assertReported(codec, new Entity(1, new Dog("Rex", 4)), Entity.class, "", output);
	}

	@ParameterizedTest
	@MethodSource("codecs")
	void whatCannotBeReadBackIsReportedOnce(ResultCodec codec, CapturedOutput output) {
		for (Object value : List.of(new Unnamed("x"), Closed.of("x"))) {
			int before = output.getOut().length();
			ResultCodec first = new ResultRoundTripCheck(codec).of("pay");
			Type type = (value instanceof Closed) ? Closed.class : Named1.class;
			first.encode(value, type);
			first.encode(value, type);
			assertThat(output.getOut().substring(before)).containsOnlyOnce("WARN")
				.contains("'pay'", type.getTypeName(), "cannot be read back", "result-unavailable")
				.doesNotContain("\tat ");
		}
	}

	@ParameterizedTest
	@MethodSource("codecs")
	void whatComesBackAsItWasIsNoNews(ResultCodec codec, CapturedOutput output) {
		ResultRoundTripCheck first = new ResultRoundTripCheck(codec);
		Set<String> many = new HashSet<>(1024);
		IntStream.range(0, 100).forEach((i) -> many.add("name-" + i));
		Object[] values = { "text", 5, new BigDecimal("1.00"), Instant.now(), new byte[] { 1 }, new Plain("a", 1),
				new Bean("a", new Plain("b", 2)), new Sets(many, Set.of(new Plain("a", 1), new Plain("b", 2))),
				new Page(new Bean[] { new Bean("a", null) }, new int[] { 1, 2 }), new Dog("Rex", 4),
				new Entity(1, new Animal("Rex")), StatusOf.OPEN, new Loop("x"), new Generated("x") {
				} };
		for (Object value : values) {
			Type type = (value instanceof Generated) ? Generated.class : value.getClass();
			first.of("op").encode(value, type);
		}
		first.of("op").encode(null, Plain.class);
		first.of("op").encode(null, void.class);
		first.of("op").encode("done", void.class);
		assertThat(output).doesNotContain("WARN");
	}

	@ParameterizedTest
	@MethodSource("codecs")
	void eachOperationAndEachClassIsLookedAt(ResultCodec codec, CapturedOutput output) {
		ResultRoundTripCheck first = new ResultRoundTripCheck(codec);
		Type animals = new ParameterizedTypeReference<List<Animal>>() {
		}.getType();
		first.of("a").encode(new Animal("Rex"), Animal.class);
		first.of("a").encode(null, Animal.class);
		first.of("a").encode(List.of(), animals);
		assertThat(output).doesNotContain("WARN");
		first.of("a").encode(new Dog("Rex", 4), Animal.class);
		first.of("b").encode(new Dog("Rex", 4), Animal.class);
		first.of("a").encode(List.of(new Dog("Rex", 4)), animals);
		assertThat(output.getOut().split("WARN", -1)).hasSize(4);
	}

	/** Such a ring took the thread of the call for ever. */
	@Test
	void causeThatIsARingIsTold(CapturedOutput output) {
		RuntimeException failure = new IllegalStateException("outer", new IllegalArgumentException("inner"));
		failure.getCause().initCause(failure);
		ResultCodec codec = new ResultCodec() {

			@Override
			public StoredResult encode(@Nullable Object value, Type type) {
				return new StoredResult("test", new byte[] { 1 });
			}

			@Override
			public @Nullable Object decode(StoredResult result, Type type) {
				throw failure;
			}

			@Override
			public @Nullable String unsupported(Type type) {
				return null;
			}

		};
		assertTimeoutPreemptively(Duration.ofSeconds(20),
				() -> new ResultRoundTripCheck(codec).of("pay").encode("text", String.class));
		assertThat(output).contains("cannot be read back");
	}

	@Test
	void aCodecOrAnEqualsThatFailsChangesNothing(CapturedOutput output) {
		ResultCodec first = new ResultRoundTripCheck(new Jackson2ResultCodec()).of("op");
		assertThatCode(() -> first.encode(new Angry("x"), Angry.class)).doesNotThrowAnyException();
		ResultCodec lying = new ResultCodec() {

			@Override
			public StoredResult encode(@Nullable Object value, Type type) {
				return new StoredResult("own1", new byte[0]);
			}

			@Override
			public @Nullable Object decode(StoredResult result, Type type) {
				throw new StackOverflowError();
			}

			@Override
			public @Nullable String unsupported(Type type) {
				return null;
			}

		};
		assertThat(new ResultRoundTripCheck(lying).of("op").encode("x", String.class).format()).isEqualTo("own1");
	}

	record Plain(String name, int count) {
	}

	record Hidden(String name, @JsonIgnore @Nullable String secret) {
	}

	static class HiddenBean {

		public String name = "";

		@JsonIgnore
		private @Nullable String secret;

		HiddenBean() {
		}

		HiddenBean(String name, String secret) {
			this.name = name;
			this.secret = secret;
		}

	}

	record Holder(List<Hidden> all) {
	}

	record Masked(String card) {

		@JsonProperty("card")
		String masked() {
			return "****";
		}

		@Override
		@JsonIgnore(false)
		public String card() {
			return this.card;
		}

	}

	static class Animal {

		public String name = "";

		Animal() {
		}

		Animal(String name) {
			this.name = name;
		}

	}

	static class Dog extends Animal {

		public int legs;

		Dog() {
		}

		Dog(String name, int legs) {
			super(name);
			this.legs = legs;
		}

	}

	record Zoo(Animal animal) {
	}

	record Sparse(@JsonInclude(JsonInclude.Include.NON_EMPTY) List<String> names) {
	}

	record Anything(Object payload) {
	}

	record Sets(Set<String> names, Set<Plain> plains) {
	}

	record Page(Bean[] beans, int[] numbers) {
	}

	static class Bean {

		public String name = "";

		public @Nullable Plain plain;

		public transient @Nullable String cache;

		Bean() {
		}

		Bean(String name, @Nullable Plain plain) {
			this.name = name;
			this.plain = plain;
			this.cache = "made";
		}

	}

	static class Entity {

		public int id;

		public @Nullable Animal animal;

		Entity() {
		}

		Entity(int id, Animal animal) {
			this.id = id;
			this.animal = animal;
		}

		@Override
		public boolean equals(@Nullable Object other) {
			return other instanceof Entity entity && entity.id == this.id;
		}

		@Override
		public int hashCode() {
			return Objects.hash(this.id);
		}

	}

	enum StatusOf {

		OPEN

	}

	static class Generated {

		public String name = "";

		Generated() {
		}

		Generated(String name) {
			this.name = name;
		}

	}

	static class Loop {

		public String name = "";

		@JsonIgnore
		private final List<Loop> self = new ArrayList<>();

		Loop() {
			this.self.add(this);
		}

		Loop(String name) {
			this();
			this.name = name;
		}

	}

	@JsonTypeInfo(use = JsonTypeInfo.Id.NAME)
	interface Named1 {

	}

	record Unnamed(String name) implements Named1 {
	}

	static final class Closed {

		private final String name;

		private Closed(String name, int times) {
			this.name = name.repeat(times);
		}

		private Closed(String name, String suffix) {
			this.name = name + suffix;
		}

		static Closed of(String name) {
			return name.isEmpty() ? new Closed(name, 1) : new Closed(name, "");
		}

		public String getName() {
			return this.name;
		}

	}

	record Angry(String name) {

		@Override
		public boolean equals(@Nullable Object other) {
			throw new IllegalStateException("no");
		}

		@Override
		public int hashCode() {
			return 1;
		}

	}

}
