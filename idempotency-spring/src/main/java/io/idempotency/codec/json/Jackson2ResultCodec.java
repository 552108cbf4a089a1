package io.idempotency.codec.json;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Type;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.util.JsonGeneratorDelegate;
import com.fasterxml.jackson.databind.AnnotationIntrospector;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JavaType;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.JsonSerializer;
import com.fasterxml.jackson.databind.MapperFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.SerializerProvider;
import com.fasterxml.jackson.databind.cfg.JsonNodeFeature;
import com.fasterxml.jackson.databind.cfg.MapperConfig;
import com.fasterxml.jackson.databind.exc.UnrecognizedPropertyException;
import com.fasterxml.jackson.databind.introspect.Annotated;
import com.fasterxml.jackson.databind.introspect.AnnotationIntrospectorPair;
import com.fasterxml.jackson.databind.introspect.NopAnnotationIntrospector;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.jsontype.PolymorphicTypeValidator;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.databind.ser.std.StdDelegatingSerializer;
import com.fasterxml.jackson.databind.util.StdConverter;
import com.fasterxml.jackson.databind.util.StdDateFormat;
import org.jspecify.annotations.Nullable;

/**
 * Turns results into JSON and back with Jackson 2. Thread-safe.
 * <p>
 * The codec uses the modules, mix-ins and names of the application's mapper, but stores
 * every value without loss: empty values are not omitted, times preserve their zone and
 * precision, and decimals preserve their scale. It never writes or reads a class name.
 *
 * @since 0.1.0
 */
public final class Jackson2ResultCodec extends JsonResultCodec {

	private final ObjectMapper mapper;

	private final ObjectMapper comparing;

	/**
	 * Creates a codec with the modules that are on the class path.
	 */
	public Jackson2ResultCodec() {
		this(JsonMapper.builder().findAndAddModules().build());
	}

	/**
	 * Creates a codec.
	 * @param mapper the application's mapper, which is copied and never changed
	 */
	public Jackson2ResultCodec(ObjectMapper mapper) {
		this.mapper = lossless(mapper.copy());
		this.comparing = comparing(this.mapper.copy());
	}

	private static ObjectMapper lossless(ObjectMapper mapper) {
		mapper.deactivateDefaultTyping();
		mapper.setPolymorphicTypeValidator(new NoClassNames());
		mapper.setDefaultPropertyInclusion(
				JsonInclude.Value.construct(JsonInclude.Include.ALWAYS, JsonInclude.Include.ALWAYS));
		mapper.setAnnotationIntrospectors(mapper.getSerializationConfig().getAnnotationIntrospector(),
				new ReportedProperties(mapper.getDeserializationConfig().getAnnotationIntrospector()));
		mapper.setDateFormat(new StdDateFormat());
		mapper.configure(JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES, false);
		mapper.enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS);
		mapper.disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES,
				DeserializationFeature.FAIL_ON_IGNORED_PROPERTIES, DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES,
				DeserializationFeature.FAIL_ON_MISSING_CREATOR_PROPERTIES,
				DeserializationFeature.FAIL_ON_NULL_CREATOR_PROPERTIES, DeserializationFeature.UNWRAP_ROOT_VALUE,
				DeserializationFeature.UNWRAP_SINGLE_VALUE_ARRAYS,
				DeserializationFeature.ACCEPT_EMPTY_STRING_AS_NULL_OBJECT,
				DeserializationFeature.ACCEPT_EMPTY_ARRAY_AS_NULL_OBJECT,
				DeserializationFeature.READ_ENUMS_USING_TO_STRING,
				DeserializationFeature.READ_UNKNOWN_ENUM_VALUES_AS_NULL,
				DeserializationFeature.ADJUST_DATES_TO_CONTEXT_TIME_ZONE);
		return mapper.enable(SerializationFeature.WRITE_DATES_WITH_ZONE_ID)
			.disable(SerializationFeature.WRITE_DATES_AS_TIMESTAMPS, SerializationFeature.WRITE_DURATIONS_AS_TIMESTAMPS,
					SerializationFeature.WRITE_DATE_KEYS_AS_TIMESTAMPS,
					SerializationFeature.WRITE_ENUMS_USING_TO_STRING, SerializationFeature.WRITE_ENUMS_USING_INDEX,
					SerializationFeature.WRITE_SINGLE_ELEM_ARRAYS_UNWRAPPED, SerializationFeature.WRAP_ROOT_VALUE,
					SerializationFeature.INDENT_OUTPUT);
	}

	/**
	 * Writes all content of a value in a fixed order, because the order of fields in a
	 * class file and the order of a hash table differ between JVMs. Empty values and
	 * write-only properties must not make different values equal.
	 */
	@SuppressWarnings("deprecation")
	private ObjectMapper comparing(ObjectMapper mapper) {
		StdConverter<Set<?>, List<?>> sets = new StdConverter<>() {

			@Override
			public List<?> convert(Set<?> value) {
				return sorted(value, Jackson2ResultCodec.this::compared);
			}

		};
		StdConverter<Map<?, ?>, List<?>> maps = new StdConverter<>() {

			@Override
			public List<?> convert(Map<?, ?> value) {
				return sorted(value, Jackson2ResultCodec.this::compared);
			}

		};
		mapper.registerModule(
				new SimpleModule("idempotency-order").addSerializer(Set.class, new StdDelegatingSerializer(sets))
					.addSerializer(Map.class, new StdDelegatingSerializer(maps)));
		mapper.setAnnotationIntrospector(AnnotationIntrospector.pair(new WrittenProperties(),
				mapper.getSerializationConfig().getAnnotationIntrospector()));
		mapper.setDefaultPropertyInclusion(COMPARED);
		mapper.configure(JsonNodeFeature.WRITE_PROPERTIES_SORTED, true);
		return mapper.enable(MapperFeature.SORT_PROPERTIES_ALPHABETICALLY)
			.disable(MapperFeature.SORT_CREATOR_PROPERTIES_FIRST)
			.enable(SerializationFeature.ORDER_MAP_ENTRIES_BY_KEYS, SerializationFeature.FAIL_ON_EMPTY_BEANS);
	}

	@Override
	JsonForm formOf(Type type) {
		JavaType javaType = this.mapper.constructType(type);
		ObjectReader reader = this.mapper.readerFor(javaType);
		return new JsonForm(this.mapper.writerFor(javaType)::writeValueAsBytes,
				reader.with(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)::readValue, reader::readValue,
				this.mapper.readerFor(Object.class)::readValue, UnrecognizedPropertyException.class);
	}

	@Override
	public byte[] comparable(Object value) {
		return compared(value);
	}

	private byte[] compared(@Nullable Object value) {
		ByteArrayOutputStream bytes = new ByteArrayOutputStream();
		try (JsonGenerator generator = new NumbersByValue(this.comparing.createGenerator(bytes))) {
			this.comparing.writeValue(generator, value);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		return bytes.toByteArray();
	}

	@Override
	Written written(Type type) {
		JavaType javaType = this.comparing.constructType(type);
		SerializerProvider provider = this.comparing.getSerializerProviderInstance();
		List<Written.Part> parts = new ArrayList<>();
		for (JavaType content : new JavaType[] { javaType.getKeyType(), javaType.getContentType() }) {
			if (content != null) {
				parts.add(new Written.Part("", content));
			}
		}
		try {
			JsonSerializer<?> serializer = provider.findValueSerializer(javaType);
			serializer.properties()
				.forEachRemaining((property) -> parts.add(new Written.Part(property.getName(), property.getType())));
			return new Written(javaType, javaType.getRawClass(), provider.isUnknownTypeSerializer(serializer), parts);
		}
		catch (JsonMappingException ex) {
			return new Written(javaType, javaType.getRawClass(), true, parts);
		}
	}

	/** Writes equal decimals in one notation. */
	private static final class NumbersByValue extends JsonGeneratorDelegate {

		NumbersByValue(JsonGenerator generator) {
			super(generator, false);
		}

		@Override
		public void writeNumber(BigDecimal number) throws IOException {
			super.writeNumber(decimal(number));
		}

		@Override
		public void writeNumber(double number) throws IOException {
			if (Double.isFinite(number)) {
				writeNumber(BigDecimal.valueOf(number));
			}
			else {
				super.writeNumber(number);
			}
		}

		@Override
		public void writeNumber(float number) throws IOException {
			if (Float.isFinite(number)) {
				writeNumber(new BigDecimal(Float.toString(number)));
			}
			else {
				super.writeNumber(number);
			}
		}

	}

	/**
	 * Rejects every class name that comes from the store, even if an annotation allows
	 * it.
	 */
	private static final class NoClassNames extends PolymorphicTypeValidator.Base {

		private static final long serialVersionUID = 1L;

		@Override
		public Validity validateBaseType(MapperConfig<?> config, JavaType baseType) {
			return Validity.DENIED;
		}

	}

	/** Also writes the properties that an annotation allows only to be read from JSON. */
	private static final class WrittenProperties extends NopAnnotationIntrospector {

		private static final long serialVersionUID = 1L;

		@Override
		public JsonProperty.@Nullable Access findPropertyAccess(Annotated member) {
			return isWriteOnly(member.getAnnotation(JsonProperty.class)) ? JsonProperty.Access.READ_WRITE : null;
		}

	}

	/**
	 * Reports each unknown property, even if the application ignores unknown properties.
	 */
	private static final class ReportedProperties extends AnnotationIntrospectorPair {

		private static final long serialVersionUID = 1L;

		ReportedProperties(AnnotationIntrospector known) {
			super(known, NopAnnotationIntrospector.instance);
		}

		@Override
		public JsonIgnoreProperties.Value findPropertyIgnoralByName(MapperConfig<?> config, Annotated member) {
			return super.findPropertyIgnoralByName(config, member).withoutIgnoreUnknown();
		}

	}

}
