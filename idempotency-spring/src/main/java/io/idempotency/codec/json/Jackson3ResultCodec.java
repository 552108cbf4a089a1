package io.idempotency.codec.json;

import java.io.ByteArrayOutputStream;
import java.lang.reflect.Type;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.util.JsonGeneratorDelegate;
import tools.jackson.databind.AnnotationIntrospector;
import tools.jackson.databind.DatabindContext;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JavaType;
import tools.jackson.databind.MapperFeature;
import tools.jackson.databind.ObjectReader;
import tools.jackson.databind.SerializationContext;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.ValueSerializer;
import tools.jackson.databind.cfg.DateTimeFeature;
import tools.jackson.databind.cfg.EnumFeature;
import tools.jackson.databind.cfg.JsonNodeFeature;
import tools.jackson.databind.cfg.MapperConfig;
import tools.jackson.databind.exc.UnrecognizedPropertyException;
import tools.jackson.databind.introspect.Annotated;
import tools.jackson.databind.introspect.AnnotationIntrospectorPair;
import tools.jackson.databind.introspect.NopAnnotationIntrospector;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.jsontype.PolymorphicTypeValidator;
import tools.jackson.databind.module.SimpleModule;
import tools.jackson.databind.ser.std.StdConvertingSerializer;
import tools.jackson.databind.util.StdConverter;
import tools.jackson.databind.util.StdDateFormat;

/**
 * Turns results into JSON and back with Jackson 3. Thread-safe.
 * <p>
 * The codec uses the modules, mix-ins and names of the application's mapper, but stores
 * every value without loss: empty values are not omitted, times preserve their zone and
 * precision, and decimals preserve their scale. It never writes or reads a class name.
 *
 * @since 0.1.0
 */
public final class Jackson3ResultCodec extends JsonResultCodec {

	private final JsonMapper mapper;

	private final JsonMapper comparing;

	/**
	 * Creates a codec with the modules that are on the class path.
	 */
	public Jackson3ResultCodec() {
		this(JsonMapper.builder().findAndAddModules().build());
	}

	/**
	 * Creates a codec.
	 * @param mapper the application's mapper, which is never changed
	 */
	public Jackson3ResultCodec(JsonMapper mapper) {
		this.mapper = lossless(mapper);
		this.comparing = comparing(this.mapper);
	}

	/** See {@link Jackson2ResultCodec}. */
	private JsonMapper comparing(JsonMapper mapper) {
		StdConverter<Set<?>, List<?>> sets = new StdConverter<>() {

			@Override
			public List<?> convert(Set<?> value) {
				return sorted(value, Jackson3ResultCodec.this::compared);
			}

		};
		StdConverter<Map<?, ?>, List<?>> maps = new StdConverter<>() {

			@Override
			public List<?> convert(Map<?, ?> value) {
				return sorted(value, Jackson3ResultCodec.this::compared);
			}

		};
		JsonMapper.Builder builder = mapper.rebuild();
		return builder
			.addModule(new SimpleModule("idempotency-order").addSerializer(Set.class, new StdConvertingSerializer(sets))
				.addSerializer(Map.class, new StdConvertingSerializer(maps)))
			.annotationIntrospector(
					AnnotationIntrospector.pair(new WrittenProperties(), builder.annotationIntrospector()))
			.changeDefaultPropertyInclusion((any) -> COMPARED)
			.enable(JsonNodeFeature.WRITE_PROPERTIES_SORTED)
			.enable(MapperFeature.SORT_PROPERTIES_ALPHABETICALLY)
			.disable(MapperFeature.SORT_CREATOR_PROPERTIES_FIRST)
			.enable(SerializationFeature.ORDER_MAP_ENTRIES_BY_KEYS, SerializationFeature.FAIL_ON_EMPTY_BEANS)
			.build();
	}

	private static JsonMapper lossless(JsonMapper mapper) {
		JsonMapper.Builder builder = mapper.rebuild();
		return builder.annotationIntrospector(new ReportedProperties(builder.annotationIntrospector()))
			.deactivateDefaultTyping()
			.polymorphicTypeValidator(new NoClassNames())
			.changeDefaultPropertyInclusion(
					(any) -> JsonInclude.Value.construct(JsonInclude.Include.ALWAYS, JsonInclude.Include.ALWAYS))
			.defaultDateFormat(new StdDateFormat())
			.disable(JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES)
			.enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
			.disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES,
					DeserializationFeature.FAIL_ON_IGNORED_PROPERTIES,
					DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES,
					DeserializationFeature.FAIL_ON_MISSING_CREATOR_PROPERTIES,
					DeserializationFeature.FAIL_ON_NULL_CREATOR_PROPERTIES, DeserializationFeature.UNWRAP_ROOT_VALUE,
					DeserializationFeature.UNWRAP_SINGLE_VALUE_ARRAYS,
					DeserializationFeature.ACCEPT_EMPTY_STRING_AS_NULL_OBJECT,
					DeserializationFeature.ACCEPT_EMPTY_ARRAY_AS_NULL_OBJECT)
			.disable(EnumFeature.READ_ENUMS_USING_TO_STRING, EnumFeature.READ_UNKNOWN_ENUM_VALUES_AS_NULL,
					EnumFeature.WRITE_ENUMS_USING_TO_STRING, EnumFeature.WRITE_ENUMS_USING_INDEX,
					EnumFeature.WRITE_ENUMS_TO_LOWERCASE)
			.enable(DateTimeFeature.WRITE_DATES_WITH_ZONE_ID)
			.disable(DateTimeFeature.ADJUST_DATES_TO_CONTEXT_TIME_ZONE, DateTimeFeature.WRITE_DATES_AS_TIMESTAMPS,
					DateTimeFeature.WRITE_DURATIONS_AS_TIMESTAMPS, DateTimeFeature.WRITE_DATE_KEYS_AS_TIMESTAMPS)
			.disable(SerializationFeature.WRITE_SINGLE_ELEM_ARRAYS_UNWRAPPED, SerializationFeature.WRAP_ROOT_VALUE,
					SerializationFeature.INDENT_OUTPUT)
			.build();
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
		return bytes.toByteArray();
	}

	@Override
	Written written(Type type) {
		JavaType javaType = this.comparing.constructType(type);
		SerializationContext context = this.comparing._serializationContext();
		List<Written.Part> parts = new ArrayList<>();
		for (JavaType content : new JavaType[] { javaType.getKeyType(), javaType.getContentType() }) {
			if (content != null) {
				parts.add(new Written.Part("", content));
			}
		}
		try {
			ValueSerializer<?> serializer = context.findValueSerializer(javaType);
			serializer.properties()
				.forEachRemaining((property) -> parts.add(new Written.Part(property.getName(), property.getType())));
			return new Written(javaType, javaType.getRawClass(), context.isUnknownTypeSerializer(serializer), parts);
		}
		catch (JacksonException ex) {
			return new Written(javaType, javaType.getRawClass(), true, parts);
		}
	}

	/** Writes equal decimals in one notation. */
	private static final class NumbersByValue extends JsonGeneratorDelegate {

		NumbersByValue(JsonGenerator generator) {
			super(generator, false);
		}

		@Override
		public JsonGenerator writeNumber(BigDecimal number) {
			return super.writeNumber(decimal(number));
		}

		@Override
		public JsonGenerator writeNumber(double number) {
			return Double.isFinite(number) ? writeNumber(BigDecimal.valueOf(number)) : super.writeNumber(number);
		}

		@Override
		public JsonGenerator writeNumber(float number) {
			return Float.isFinite(number) ? writeNumber(new BigDecimal(Float.toString(number)))
					: super.writeNumber(number);
		}

	}

	/**
	 * Rejects every class name that comes from the store, even if an annotation allows
	 * it.
	 */
	private static final class NoClassNames extends PolymorphicTypeValidator.Base {

		private static final long serialVersionUID = 1L;

		@Override
		public Validity validateBaseType(DatabindContext context, JavaType baseType) {
			return Validity.DENIED;
		}

	}

	/** Also writes the properties that an annotation allows only to be read from JSON. */
	private static final class WrittenProperties extends NopAnnotationIntrospector {

		private static final long serialVersionUID = 1L;

		@Override
		public JsonProperty.@Nullable Access findPropertyAccess(MapperConfig<?> config, Annotated member) {
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
