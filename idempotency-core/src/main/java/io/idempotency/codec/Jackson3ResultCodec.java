package io.idempotency.codec;

import java.lang.reflect.Type;

import com.fasterxml.jackson.annotation.JsonInclude;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JavaType;
import tools.jackson.databind.MapperFeature;
import tools.jackson.databind.ObjectReader;
import tools.jackson.databind.ObjectWriter;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.cfg.DateTimeFeature;
import tools.jackson.databind.cfg.EnumFeature;
import tools.jackson.databind.cfg.JsonNodeFeature;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.util.StdDateFormat;

/**
 * Results as JSON with Jackson 3. Thread-safe.
 * <p>
 * Knows the modules, mix-ins and names of the application's mapper, but keeps every value
 * as it is (nothing is left out because it is empty, times keep their zone and precision,
 * decimals their scale) and never writes or reads a class name.
 *
 * @since 0.1.0
 */
public final class Jackson3ResultCodec extends JsonResultCodec {

	private final JsonMapper mapper;

	private final ObjectWriter comparing;

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
		// Neither the order of fields in a class file nor that of a hash table is the
		// same in every JVM.
		this.comparing = this.mapper.rebuild()
			.enable(MapperFeature.SORT_PROPERTIES_ALPHABETICALLY)
			.enable(SerializationFeature.ORDER_MAP_ENTRIES_BY_KEYS)
			.build()
			.writer();
	}

	private static JsonMapper lossless(JsonMapper mapper) {
		return mapper.rebuild()
			.deactivateDefaultTyping()
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
		return new Form(this.mapper.writerFor(javaType), this.mapper.readerFor(javaType));
	}

	@Override
	public byte[] comparable(Object value) {
		return this.comparing.writeValueAsBytes(value);
	}

	private record Form(ObjectWriter writer, ObjectReader reader) implements JsonForm {

		@Override
		public byte[] write(Object value) {
			return this.writer.writeValueAsBytes(value);
		}

		@Override
		public Object read(byte[] json) {
			return this.reader.readValue(json);
		}

	}

}
