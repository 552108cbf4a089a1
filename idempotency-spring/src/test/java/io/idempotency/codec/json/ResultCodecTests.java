package io.idempotency.codec.json;

import java.lang.reflect.Type;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Currency;
import java.util.Date;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;

import com.fasterxml.jackson.annotation.JsonAlias;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import com.fasterxml.jackson.databind.MapperFeature;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.jsontype.BasicPolymorphicTypeValidator;
import io.idempotency.codec.ResultCodec;
import io.idempotency.codec.UnreadableResultException;
import io.idempotency.store.StoredResult;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.core.ParameterizedTypeReference;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Every pair of a writing and a reading generation of Jackson. */
class ResultCodecTests {

	private static final Instant TIME = Instant.parse("2026-02-03T04:05:06.123456789Z");

	static Stream<Named<ResultCodec>> codecs() {
		return Stream.of(Named.of("Jackson 2", new Jackson2ResultCodec()),
				Named.of("Jackson 3", new Jackson3ResultCodec()),
				Named.of("Jackson 2, lossy mapper", new Jackson2ResultCodec(lossy2())),
				Named.of("Jackson 3, lossy mapper", new Jackson3ResultCodec(lossy3())));
	}

	/** What an application may have set, and what would not come back as it was. */
	private static com.fasterxml.jackson.databind.ObjectMapper lossy2() {
		return com.fasterxml.jackson.databind.json.JsonMapper.builder()
			.findAndAddModules()
			.serializationInclusion(JsonInclude.Include.NON_EMPTY)
			.enable(com.fasterxml.jackson.databind.SerializationFeature.WRITE_ENUMS_USING_TO_STRING,
					com.fasterxml.jackson.databind.SerializationFeature.WRITE_DATES_AS_TIMESTAMPS,
					com.fasterxml.jackson.databind.SerializationFeature.WRITE_SINGLE_ELEM_ARRAYS_UNWRAPPED,
					com.fasterxml.jackson.databind.SerializationFeature.WRAP_ROOT_VALUE)
			.disable(com.fasterxml.jackson.databind.SerializationFeature.WRITE_DATE_TIMESTAMPS_AS_NANOSECONDS)
			.enable(com.fasterxml.jackson.databind.DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
			.defaultDateFormat(new java.text.SimpleDateFormat("yyyy", java.util.Locale.ROOT))
			.build();
	}

	private static tools.jackson.databind.json.JsonMapper lossy3() {
		return tools.jackson.databind.json.JsonMapper.builder()
			.changeDefaultPropertyInclusion(
					(any) -> JsonInclude.Value.construct(JsonInclude.Include.NON_EMPTY, JsonInclude.Include.NON_EMPTY))
			.enable(tools.jackson.databind.cfg.EnumFeature.WRITE_ENUMS_USING_TO_STRING)
			.enable(tools.jackson.databind.cfg.DateTimeFeature.WRITE_DATES_AS_TIMESTAMPS)
			.disable(tools.jackson.databind.cfg.DateTimeFeature.WRITE_DATE_TIMESTAMPS_AS_NANOSECONDS)
			.enable(tools.jackson.databind.SerializationFeature.WRITE_SINGLE_ELEM_ARRAYS_UNWRAPPED,
					tools.jackson.databind.SerializationFeature.WRAP_ROOT_VALUE)
			.enable(tools.jackson.databind.DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
			.defaultDateFormat(new java.text.SimpleDateFormat("yyyy", java.util.Locale.ROOT))
			.build();
	}

	static Stream<Arguments> pairs() {
		return codecs().flatMap((writer) -> codecs().map((reader) -> Arguments.of(writer, reader)));
	}

	@ParameterizedTest
	@MethodSource("pairs")
	void whatOneWritesTheOtherReads(ResultCodec writer, ResultCodec reader) {
		samples().forEach((sample) -> {
			StoredResult stored = writer.encode(sample.value(), sample.type());
			assertThat(reader.decode(stored, sample.type())).as(sample.toString()).isEqualTo(sample.value());
			assertThat(reader.unsupported(sample.type())).as(sample.toString()).isNull();
		});
	}

	private static Stream<Sample> samples() {
		Order order = new Order("7", new BigDecimal("1.00"), TIME, List.of(), null, Status.OPEN, Map.of());
		return Stream.of(new Sample(null, String.class), new Sample(null, Order.class), new Sample("", String.class),
				new Sample("null", String.class), new Sample("ä\"\n\u0000𝄞", String.class),
				new Sample(false, boolean.class), new Sample(true, Boolean.class), new Sample(0, int.class),
				new Sample(null, Integer.class), new Sample(Long.MAX_VALUE, long.class),
				new Sample((byte) -1, byte.class), new Sample('x', char.class), new Sample(-0.0, double.class),
				new Sample(Double.NaN, double.class), new Sample(1.1f, float.class),
				new Sample(new BigDecimal("1.00"), BigDecimal.class),
				new Sample(new BigDecimal("1E+5"), BigDecimal.class),
				new Sample(new BigDecimal("1E-999999999"), BigDecimal.class),
				new Sample(BigInteger.TEN.pow(100), BigInteger.class), new Sample(Status.OPEN, Status.class),
				new Sample(UUID.fromString("00000000-0000-0000-0000-000000000001"), UUID.class),
				new Sample(TIME, Instant.class), new Sample(LocalDate.of(2026, 2, 3), LocalDate.class),
				new Sample(OffsetDateTime.parse("2026-02-03T04:05:06.5+02:00"), OffsetDateTime.class),
				new Sample(ZonedDateTime.parse("2026-02-03T04:05:06+01:00[Europe/Paris]"), ZonedDateTime.class),
				new Sample(Duration.ofNanos(1), Duration.class), new Sample(new Date(1234567890123L), Date.class),
				new Sample(order, Order.class), new Sample(new Bean("x"), Bean.class),
				new Sample(List.of(order, order), new ParameterizedTypeReference<List<Order>>() {
				}), new Sample(List.of("one"), new ParameterizedTypeReference<List<String>>() {
				}), new Sample(List.of(), new ParameterizedTypeReference<List<Order>>() {
				}), new Sample(Map.of("a", order), new ParameterizedTypeReference<Map<String, Order>>() {
				}),
				new Sample(Map.of(Status.OPEN, List.of(1L)), new ParameterizedTypeReference<Map<Status, List<Long>>>() {
				}), new Sample(Set.of(1, 2), new ParameterizedTypeReference<Set<Integer>>() {
				}), new Sample(Arrays.asList("a", null), new ParameterizedTypeReference<List<String>>() {
				}), new Sample(new Page<>(List.of(order), 1), new ParameterizedTypeReference<Page<Order>>() {
				}), new Sample(Optional.empty(), new ParameterizedTypeReference<Optional<Order>>() {
				}), new Sample(null, new ParameterizedTypeReference<Optional<Order>>() {
				}), new Sample(Optional.of(order), new ParameterizedTypeReference<Optional<Order>>() {
				}), new Sample(Optional.of(List.of()), new ParameterizedTypeReference<Optional<List<String>>>() {
				}), new Sample(OptionalInt.empty(), OptionalInt.class),
				new Sample(OptionalInt.of(0), OptionalInt.class),
				new Sample(OptionalLong.of(Long.MIN_VALUE), OptionalLong.class), new Sample(null, OptionalLong.class),
				new Sample(OptionalDouble.of(0.1), OptionalDouble.class), new Sample(new Circle(2), Shape.class),
				new Sample(List.of(new Circle(2), new Square(3)), new ParameterizedTypeReference<List<Shape>>() {
				}));
	}

	@ParameterizedTest
	@MethodSource("pairs")
	void bytesAreKeptAsTheyAre(ResultCodec writer, ResultCodec reader) {
		byte[] bytes = { 0, -1, 'n', 'u', 'l', 'l' };
		StoredResult stored = writer.encode(bytes, byte[].class);
		assertThat(stored.bytes()).isEqualTo(bytes).isNotSameAs(bytes);
		assertThat((byte[]) reader.decode(stored, byte[].class)).isEqualTo(bytes).isNotSameAs(stored.bytes());
		assertThat((byte[]) reader.decode(writer.encode(new byte[0], byte[].class), byte[].class)).isEmpty();
		assertThat(reader.decode(writer.encode(null, byte[].class), byte[].class)).isNull();
	}

	@ParameterizedTest
	@MethodSource("pairs")
	void arraysComeBack(ResultCodec writer, ResultCodec reader) {
		StoredResult stored = writer.encode(new int[] { 1, 2 }, int[].class);
		assertThat((int[]) reader.decode(stored, int[].class)).containsExactly(1, 2);
	}

	@ParameterizedTest
	@MethodSource("codecs")
	void voidHasNoResultWhateverTheMethodGave(ResultCodec codec) {
		assertThat(codec.decode(codec.encode(null, void.class), void.class)).isNull();
		assertThat(codec.decode(codec.encode("recovered", void.class), Void.class)).isNull();
		assertThat(codec.unsupported(void.class)).isNull();
		assertThat(codec.unsupported(Void.class)).isNull();
	}

	@ParameterizedTest
	@MethodSource("codecs")
	void decimalsInTreesKeepTheirScale(ResultCodec codec) {
		Money money = new Money(Map.of("a", new BigDecimal("2.50")), new BigDecimal("0.10"));
		Money decoded = (Money) codec.decode(codec.encode(money, Money.class), Money.class);
		assertThat(decoded).isEqualTo(money);
		Holder holder = new Holder(new BigDecimal("2.50"));
		assertThat(codec.decode(codec.encode(holder, Holder.class), Holder.class)).isEqualTo(holder);
	}

	@ParameterizedTest
	@MethodSource("codecs")
	void mapsKeepTheirOrder(ResultCodec codec) {
		Type type = new ParameterizedTypeReference<Map<String, Integer>>() {
		}.getType();
		Map<String, Integer> map = new LinkedHashMap<>();
		map.put("z", 1);
		map.put("a", 2);
		Map<?, ?> decoded = (Map<?, ?>) codec.decode(codec.encode(map, type), type);
		assertThat(new ArrayList<Object>(decoded.keySet())).containsExactly("z", "a");
	}

	@ParameterizedTest
	@MethodSource("codecs")
	void aMemberThatANewerVersionWroteIsIgnored(ResultCodec codec) {
		StoredResult newer = json("{\"name\":\"x\",\"addedLater\":{\"a\":[1]}}");
		assertThat(codec.decode(newer, Bean.class)).isEqualTo(new Bean("x"));
	}

	@ParameterizedTest
	@MethodSource("codecs")
	void aMemberThatAnOlderVersionDidNotWriteIsAbsent(ResultCodec codec) {
		assertThat(codec.decode(json("{\"id\":\"7\"}"), Order.class))
			.isEqualTo(new Order("7", null, null, null, null, null, null));
	}

	/** A value that is there under another name must not come back as nothing. */
	@ParameterizedTest
	@MethodSource("codecs")
	void aRenamedMemberIsUnreadable(ResultCodec codec) {
		assertUnreadable(codec, json("{\"id\":\"a\",\"cents\":5}"), Amount.class);
		assertUnreadable(codec, json("{\"id\":\"a\",\"cents\":5}"), LenientAmount.class);
		assertUnreadable(codec, json("{\"nam\":\"x\"}"), Bean.class);
		Type page = new ParameterizedTypeReference<Page<Amount>>() {
		}.getType();
		assertUnreadable(codec,
				json("{\"content\":[{\"id\":\"a\",\"amountInCents\":5},{\"id\":\"a\",\"cents\":5}],\"totalPages\":1}"),
				page);
	}

	/** One object has a member too many, and another one has a member too few. */
	@ParameterizedTest
	@MethodSource("codecs")
	void aMemberMoreHereAndOneLessThereAreNoRename(ResultCodec codec) {
		Type page = new ParameterizedTypeReference<Page<Amount>>() {
		}.getType();
		assertThat(codec.decode(
				json("{\"content\":[{\"id\":\"a\",\"amountInCents\":5,\"more\":1},{\"id\":\"b\"}],\"totalPages\":2}"),
				page))
			.isEqualTo(new Page<>(List.of(new Amount("a", 5), new Amount("b", 0)), 2));
		assertThat(codec.decode(json("{\"id\":\"a\",\"amountInCents\":5,\"more\":1}"), LenientAmount.class))
			.isEqualTo(new LenientAmount("a", 5));
		assertThat(codec.decode(json("{\"more\":1}"), Sparse.class)).as("leaves out what is null")
			.isEqualTo(new Sparse(null));
	}

	@ParameterizedTest
	@MethodSource("codecs")
	void aRenamedMemberIsReadByItsAlias(ResultCodec codec) {
		assertThat(codec.decode(json("{\"id\":\"a\",\"cents\":5}"), AliasedAmount.class))
			.isEqualTo(new AliasedAmount("a", 5));
	}

	record Amount(String id, long amountInCents) {
	}

	record AliasedAmount(String id, @JsonAlias("cents") long amountInCents) {
	}

	@JsonIgnoreProperties(ignoreUnknown = true)
	record LenientAmount(String id, long amountInCents) {
	}

	@JsonInclude(JsonInclude.Include.NON_NULL)
	record Sparse(@Nullable String note) {
	}

	/** A method that gives nothing says nothing of what another one gives. */
	@ParameterizedTest
	@MethodSource("codecs")
	void noResultIsNoNull(ResultCodec codec) {
		for (Type type : new Type[] { void.class, Void.class }) {
			StoredResult nothing = codec.encode(null, type);
			assertUnreadable(codec, nothing, Bean.class);
			assertUnreadable(codec, nothing, String.class);
			assertThat(codec.decode(nothing, void.class)).isNull();
			assertThat(codec.decode(codec.encode(new Bean("x"), Bean.class), type)).isNull();
			assertThat(codec.decode(json("null"), type)).isNull();
		}
		assertThat(codec.decode(json("null"), Bean.class)).isNull();
	}

	@ParameterizedTest
	@MethodSource("codecs")
	void whatCannotBeReadIsUnreadable(ResultCodec codec) {
		assertUnreadable(codec, json("{"), Order.class);
		assertUnreadable(codec, json(""), Order.class);
		assertUnreadable(codec, json("\"x\""), int.class);
		assertUnreadable(codec, json("null"), int.class);
		assertUnreadable(codec, json("\"GONE\""), Status.class);
		assertUnreadable(codec, json("[1,2]"), OptionalInt.class);
		assertUnreadable(codec, new StoredResult("h3", new byte[] { 1 }), String.class);
		assertUnreadable(codec, new StoredResult("json2", new byte[] { '1' }), int.class);
		assertUnreadable(codec, new StoredResult("bytes1", new byte[] { '1' }), int.class);
	}

	private static void assertUnreadable(ResultCodec codec, StoredResult result, Type type) {
		assertThatExceptionOfType(UnreadableResultException.class).as(type.getTypeName())
			.isThrownBy(() -> codec.decode(result, type))
			.withMessageContaining(type.getTypeName());
	}

	@ParameterizedTest
	@MethodSource("codecs")
	void classNamesInAStoredResultAreNeverObeyed(ResultCodec codec) {
		StoredResult evil = json("[\"javax.swing.JEditorPane\",{\"page\":\"http://localhost/\"}]");
		assertUnreadable(codec, evil, Bean.class);
		assertUnreadable(codec, json("{\"kind\":\"javax.swing.JEditorPane\"}"), Shape.class);
	}

	@Test
	void defaultTypingOfTheApplicationIsSwitchedOff() {
		com.fasterxml.jackson.databind.ObjectMapper mapper = new com.fasterxml.jackson.databind.ObjectMapper();
		mapper.activateDefaultTyping(BasicPolymorphicTypeValidator.builder().allowIfSubType(Object.class).build(),
				com.fasterxml.jackson.databind.ObjectMapper.DefaultTyping.EVERYTHING);
		tools.jackson.databind.json.JsonMapper mapper3 = tools.jackson.databind.json.JsonMapper.builder()
			.activateDefaultTyping(tools.jackson.databind.jsontype.BasicPolymorphicTypeValidator.builder()
				.allowIfSubType(Object.class)
				.build(), tools.jackson.databind.DefaultTyping.NON_FINAL)
			.build();
		for (ResultCodec codec : List.of(new Jackson2ResultCodec(mapper), new Jackson3ResultCodec(mapper3))) {
			StoredResult stored = codec.encode(new Bean("x"), Bean.class);
			assertThat(new String(stored.bytes(), StandardCharsets.UTF_8)).isEqualTo("{\"name\":\"x\"}");
		}
	}

	@Test
	void namesOfTheApplicationsMapperAreKept() {
		ResultCodec codec2 = new Jackson2ResultCodec(com.fasterxml.jackson.databind.json.JsonMapper.builder()
			.propertyNamingStrategy(PropertyNamingStrategies.KEBAB_CASE)
			.build());
		ResultCodec codec3 = new Jackson3ResultCodec(tools.jackson.databind.json.JsonMapper.builder()
			.propertyNamingStrategy(tools.jackson.databind.PropertyNamingStrategies.KEBAB_CASE)
			.build());
		for (ResultCodec codec : List.of(codec2, codec3)) {
			StoredResult stored = codec.encode(new Page<>(List.of("x"), 3),
					new ParameterizedTypeReference<Page<String>>() {
					}.getType());
			assertThat(new String(stored.bytes(), StandardCharsets.UTF_8)).contains("\"total-pages\":3");
		}
	}

	@Test
	void theApplicationsMapperIsNotChanged() {
		com.fasterxml.jackson.databind.ObjectMapper mapper = new com.fasterxml.jackson.databind.ObjectMapper();
		assertThat(new Jackson2ResultCodec(mapper).comparable(new Bean("x"))).isNotEmpty();
		assertThat(mapper.isEnabled(MapperFeature.SORT_PROPERTIES_ALPHABETICALLY)).isFalse();
		assertThat(mapper.isEnabled(com.fasterxml.jackson.databind.DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES))
			.isTrue();
	}

	@ParameterizedTest
	@MethodSource("codecs")
	void aValueThatCannotBeEncodedIsAnError(ResultCodec codec) {
		assertThatExceptionOfType(RuntimeException.class).isThrownBy(() -> codec.encode(new Failing(), Failing.class))
			.withStackTraceContaining("getter");
	}

	@ParameterizedTest
	@MethodSource("pairs")
	void equalValuesCompareEqualWhateverTheirOrder(ResultCodec one, ResultCodec other) {
		Map<String, Object> map = new LinkedHashMap<>();
		map.put("z", 1);
		map.put("a", new Bean("x"));
		Map<String, Object> same = new LinkedHashMap<>();
		same.put("a", new Bean("x"));
		same.put("z", 1);
		assertThat(one.comparable(map)).isEqualTo(other.comparable(same));
		assertThat(one.comparable(map)).isNotEqualTo(one.comparable(Map.of("z", 1)));
		assertThat(new String(one.comparable(new Page<>(List.of(1), 2)), StandardCharsets.UTF_8))
			.matches("\\{\"content\".*\"totalPages\".*}");
	}

	@ParameterizedTest
	@MethodSource("pairs")
	void aSetComparesEqualInTheOrderOfAnyJvm(ResultCodec one, ResultCodec other) {
		Tagged value = new Tagged(new LinkedHashSet<>(List.of("a", "b")), List.of(Set.of()),
				new LinkedHashSet<>(List.of(new Bean("x"), new Bean("y"))), "7");
		Tagged same = new Tagged(new LinkedHashSet<>(List.of("b", "a")), List.of(Set.of()),
				new LinkedHashSet<>(List.of(new Bean("y"), new Bean("x"))), "7");
		assertThat(one.comparable(value)).isEqualTo(other.comparable(same));
		assertThat(one.comparable(value))
			.isNotEqualTo(one.comparable(new Tagged(Set.of("a"), value.anything(), value.beans(), value.secret())));
		assertThat(one.comparable(EnumSet.of(Color.GREEN, Color.RED)))
			.isEqualTo(other.comparable(new LinkedHashSet<>(List.of(Color.RED, Color.GREEN))));
		assertThat(one.comparable(List.of(1, 2))).isNotEqualTo(one.comparable(List.of(2, 1)));
	}

	@ParameterizedTest
	@MethodSource("pairs")
	void aMapComparesEqualInAnyOrderWhateverItsKeys(ResultCodec one, ResultCodec other) {
		Map<Object, Object> prices = new LinkedHashMap<>();
		prices.put(Currency.getInstance("EUR"), 1);
		prices.put(Currency.getInstance("USD"), 2);
		Map<Object, Object> same = new LinkedHashMap<>();
		same.put(Currency.getInstance("USD"), 2);
		same.put(Currency.getInstance("EUR"), 1);
		assertThat(one.comparable(prices)).isEqualTo(other.comparable(same));
		same.put(null, 3);
		assertThat(one.comparable(prices)).isNotEqualTo(one.comparable(same));
		assertThat(one.comparable(Map.of(Locale.ENGLISH, "pear")))
			.isNotEqualTo(one.comparable(Map.of(Locale.FRENCH, "pear")));
	}

	@ParameterizedTest
	@MethodSource("pairs")
	void comparesNumbersByValue(ResultCodec one, ResultCodec other) throws Exception {
		List<Object> equal = List.of(1, 1L, 1.0, 1.0f, new BigDecimal("1"), new BigDecimal("1.00"),
				new BigDecimal("10e-1"), BigInteger.ONE);
		for (Object value : equal) {
			assertThat(other.comparable(Map.of("n", value))).isEqualTo(one.comparable(Map.of("n", 1)));
		}
		assertThat(one.comparable(new BigDecimal("1e2"))).isEqualTo(other.comparable(100));
		assertThat(one.comparable(new BigDecimal("0.00"))).isEqualTo(other.comparable(-0.0));
		assertThat(one.comparable(new BigDecimal("0.1"))).isEqualTo(other.comparable(0.1f))
			.isNotEqualTo(one.comparable(new BigDecimal("0.1000000000000000055511151231257827")));
		assertThat(one.comparable(new BigDecimal("1e999999999"))).hasSizeLessThan(20);
		assertThat(one.comparable(Double.NaN)).isNotEqualTo(one.comparable(0));
		com.fasterxml.jackson.databind.ObjectMapper mapper = com.fasterxml.jackson.databind.json.JsonMapper.builder()
			.enable(com.fasterxml.jackson.databind.DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
			.build();
		ResultCodec codec = new Jackson2ResultCodec();
		assertThat(codec.comparable(mapper.readTree("[1.00,1e0]"))).isEqualTo(codec.comparable(List.of(1, 1)));
	}

	@ParameterizedTest
	@MethodSource("codecs")
	void whatIsNeverAnsweredIsComparedAllTheSame(ResultCodec codec) {
		Tagged value = new Tagged(Set.of(), List.of(), Set.of(), "7");
		assertThat(codec.comparable(value))
			.isNotEqualTo(codec.comparable(new Tagged(Set.of(), List.of(), Set.of(), "8")));
	}

	@ParameterizedTest
	@MethodSource("codecs")
	void aPropertyThatANewVersionAddsChangesNothingWhileItIsAbsent(ResultCodec codec) {
		assertThat(codec.comparable(new Extended("a", null, Optional.empty())))
			.isEqualTo(codec.comparable(new Bean("a")));
		assertThat(codec.comparable(new Extended("a", "b", Optional.empty())))
			.isNotEqualTo(codec.comparable(new Bean("a")));
		Map<String, Object> withNull = new LinkedHashMap<>();
		withNull.put("a", null);
		assertThat(codec.comparable(withNull)).isNotEqualTo(codec.comparable(Map.of()));
	}

	@ParameterizedTest
	@MethodSource("codecs")
	void aValueInWhichNothingIsFoundIsNotEqualToAllOthers(ResultCodec codec) {
		assertThatExceptionOfType(RuntimeException.class).isThrownBy(() -> codec.comparable(new Object()));
	}

	@Test
	void theMembersOfATreeCompareEqualInAnyOrder() throws Exception {
		com.fasterxml.jackson.databind.ObjectMapper mapper = new com.fasterxml.jackson.databind.ObjectMapper();
		assertThat(new Jackson2ResultCodec().comparable(mapper.readTree("{\"b\":{\"d\":1,\"c\":2},\"a\":3}")))
			.isEqualTo(new Jackson2ResultCodec().comparable(mapper.readTree("{\"a\":3,\"b\":{\"c\":2,\"d\":1}}")));
		tools.jackson.databind.json.JsonMapper mapper3 = new tools.jackson.databind.json.JsonMapper();
		assertThat(new Jackson3ResultCodec().comparable(mapper3.readTree("{\"b\":{\"d\":1,\"c\":2},\"a\":3}")))
			.isEqualTo(new Jackson3ResultCodec().comparable(mapper3.readTree("{\"a\":3,\"b\":{\"c\":2,\"d\":1}}")));
	}

	@ParameterizedTest
	@MethodSource("codecs")
	void argumentsThatAreNoJsonAreKnownByTheirType(ResultCodec codec) {
		for (Type type : new Type[] { java.io.InputStream.class, Runnable.class, Stream.class, byte[][].class,
				org.springframework.core.io.Resource.class, IllegalStateException.class, Nothing.class,
				java.util.EventObject.class, Upload.class, new ParameterizedTypeReference<Map<String, Upload[]>>() {
				}.getType() }) {
			String problem = codec.incomparable(type);
			if (type == byte[][].class) {
				assertThat(problem).isNull();
			}
			else {
				assertThat(problem).as(type.getTypeName()).contains("cannot be written as JSON: ");
			}
		}
		assertThat(codec.incomparable(Upload.class))
			.isEqualTo("'java.io.InputStream' of its 'content' cannot be written as JSON: it can be read only once");
		for (Type type : new Type[] { Object.class, String.class, int.class, byte[].class, UUID.class, Instant.class,
				Animal.class, Tagged.class, Number.class, Map.class, java.nio.file.Path.class, Node.class,
				com.fasterxml.jackson.databind.JsonNode.class, Comparable.class, Page.class.getTypeParameters()[0],
				new ParameterizedTypeReference<Optional<List<? extends Bean>>>() {
				}.getType() }) {
			assertThat(codec.incomparable(type)).as(type.getTypeName()).isNull();
		}
	}

	record Tagged(Set<String> tags, java.util.Collection<?> anything, Set<Bean> beans,
			@JsonProperty(access = JsonProperty.Access.WRITE_ONLY) String secret) {
	}

	record Extended(String name, @Nullable String added, Optional<String> more) {
	}

	record Upload(String name, java.io.InputStream content) {
	}

	record Node(String name, List<Node> children) {
	}

	static class Nothing {

	}

	enum Color {

		RED, GREEN

	}

	static Stream<Named<Type>> unsupported() {
		return Stream.of(Object.class, List.class, Stream.class, java.io.InputStream.class, java.io.FileReader.class,
				java.io.OutputStream.class, java.util.Iterator.class, java.util.concurrent.Future.class,
				java.util.concurrent.FutureTask.class, Number.class, Runnable.class, Animal.class, Named.class,
				ByClassName.class, org.springframework.http.HttpEntity.class,
				org.springframework.core.io.Resource.class, org.springframework.core.io.ByteArrayResource.class,
				org.springframework.web.servlet.ModelAndView.class, Object[].class,
				new ParameterizedTypeReference<List<Object>>() {
				}.getType(), new ParameterizedTypeReference<Map<String, Object>>() {
				}.getType(), new ParameterizedTypeReference<List<?>>() {
				}.getType(), new ParameterizedTypeReference<List<? extends Bean>>() {
				}.getType(), new ParameterizedTypeReference<Optional<Object>>() {
				}.getType(), new ParameterizedTypeReference<Stream<String>>() {
				}.getType(), new ParameterizedTypeReference<java.util.concurrent.Flow.Publisher<String>>() {
				}.getType(), new ParameterizedTypeReference<org.springframework.http.ResponseEntity<String>>() {
				}.getType(), new ParameterizedTypeReference<List<java.util.concurrent.CompletableFuture<String>>>() {
				}.getType(), Page.class.getTypeParameters()[0], new ParameterizedTypeReference<List<? super Bean>[]>() {
				}.getType())
			.map((type) -> Named.of(type.getTypeName(), type));
	}

	@ParameterizedTest
	@MethodSource("unsupported")
	void typesThatWouldNotComeBackAreRejected(Type type) {
		codecs().forEach((codec) -> assertThat(codec.getPayload().unsupported(type)).as(codec.getName())
			.contains("cannot be stored: "));
	}

	@ParameterizedTest
	@ValueSource(classes = { CharSequence.class, java.time.ZoneId.class, java.util.Currency.class,
			com.fasterxml.jackson.databind.JsonNode.class, tools.jackson.databind.JsonNode.class })
	void readableTypesThatLookAbstractAreAccepted(Class<?> type) {
		codecs().forEach((codec) -> assertThat(codec.getPayload().unsupported(type)).as(codec.getName()).isNull());
	}

	@Test
	void aTreeComesBack() throws Exception {
		com.fasterxml.jackson.databind.JsonNode tree = new com.fasterxml.jackson.databind.ObjectMapper()
			.readTree("{\"a\":[1,null,\"x\"]}");
		ResultCodec codec = new Jackson2ResultCodec();
		Type type = com.fasterxml.jackson.databind.JsonNode.class;
		assertThat(codec.decode(codec.encode(tree, type), type)).isEqualTo(tree);
	}

	private static StoredResult json(String text) {
		return new StoredResult("json1", text.getBytes(StandardCharsets.UTF_8));
	}

	private record Sample(@Nullable Object value, Type type) {

		Sample(@Nullable Object value, ParameterizedTypeReference<?> type) {
			this(value, type.getType());
		}

	}

	enum Status {

		OPEN;

		@Override
		public String toString() {
			return "is open";
		}

	}

	record Order(String id, @Nullable BigDecimal amount, @Nullable Instant time, @Nullable List<String> items,
			@Nullable String note, @Nullable Status status, @Nullable Map<String, String> labels) {
	}

	record Page<T>(List<T> content, int totalPages) {
	}

	record Money(Map<String, BigDecimal> amounts, BigDecimal rate) {
	}

	/** A member that says nothing about its value. */
	record Holder(Object value) {
	}

	static class Bean {

		private String name = "";

		Bean() {
		}

		Bean(String name) {
			this.name = name;
		}

		public String getName() {
			return this.name;
		}

		public void setName(String name) {
			this.name = name;
		}

		@Override
		public boolean equals(@Nullable Object obj) {
			return obj instanceof Bean other && other.name.equals(this.name);
		}

		@Override
		public int hashCode() {
			return this.name.hashCode();
		}

	}

	static class Failing {

		public String getName() {
			throw new IllegalStateException("the getter fails");
		}

	}

	abstract static class Animal {

	}

	@JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "kind")
	@JsonSubTypes({ @JsonSubTypes.Type(value = Circle.class, name = "circle"),
			@JsonSubTypes.Type(value = Square.class, name = "square") })
	sealed interface Shape {

	}

	record Circle(int radius) implements Shape {
	}

	record Square(int side) implements Shape {
	}

	@JsonTypeInfo(use = JsonTypeInfo.Id.CLASS)
	record ByClassName(String value) {
	}

}
