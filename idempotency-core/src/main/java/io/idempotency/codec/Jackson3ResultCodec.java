package io.idempotency.codec;

import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.List;

import com.fasterxml.jackson.annotation.JsonInclude;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.AnnotationIntrospector;
import tools.jackson.databind.BeanDescription;
import tools.jackson.databind.DatabindContext;
import tools.jackson.databind.DeserializationConfig;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JavaType;
import tools.jackson.databind.MapperFeature;
import tools.jackson.databind.ObjectReader;
import tools.jackson.databind.ObjectWriter;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.cfg.DateTimeFeature;
import tools.jackson.databind.cfg.EnumFeature;
import tools.jackson.databind.cfg.JsonNodeFeature;
import tools.jackson.databind.introspect.AnnotatedMember;
import tools.jackson.databind.introspect.BeanPropertyDefinition;
import tools.jackson.databind.introspect.ClassIntrospector;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.jsontype.NamedType;
import tools.jackson.databind.jsontype.PolymorphicTypeValidator;
import tools.jackson.databind.util.StdDateFormat;

/**
 * Turns results into JSON and back with Jackson 3. Thread-safe.
 * <p>
 * The codec knows the modules, mix-ins and names of the application's mapper, but it
 * keeps every value as it is: empty values are not left out, times keep their zone and
 * precision, and decimals keep their scale. It never writes or reads a class name.
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
		return new Form(this.mapper.writerFor(javaType), this.mapper.readerFor(javaType));
	}

	@Override
	NestedTypes.Description describe(Type type) {
		DeserializationConfig config = this.mapper.deserializationConfig();
		ClassIntrospector introspector = config.classIntrospectorInstance().forOperation(config);
		JavaType javaType = this.mapper.constructType(type);
		List<Type> contents = new ArrayList<>();
		if (javaType.getKeyType() != null) {
			contents.add(javaType.getKeyType());
		}
		if (javaType.getContentType() != null) {
			contents.add(javaType.getContentType());
		}
		if (javaType.hasRawClass(Object.class) || javaType.isContainerType() || javaType.isPrimitive()
				|| javaType.isEnumType()) {
			return new NestedTypes.Description(javaType, false, contents, List.of());
		}
		BeanDescription bean = introspector.introspectForDeserialization(javaType,
				introspector.introspectClassAnnotations(javaType));
		AnnotationIntrospector annotations = config.getAnnotationIntrospector();
		addSubtypes(annotations.findSubtypes(config, bean.getClassInfo()), contents);
		List<NestedTypes.Property> properties = new ArrayList<>();
		if (!javaType.getRawClass().getName().startsWith("java.")) {
			for (BeanPropertyDefinition property : bean.findProperties()) {
				AnnotatedMember member = property.getPrimaryMember();
				if (member != null) {
					addSubtypes(annotations.findSubtypes(config, member), contents);
					boolean namesClasses = NestedTypes
						.namesClasses(annotations.findPolymorphicTypeInfo(config, member));
					properties
						.add(new NestedTypes.Property(property.getName(), property.getPrimaryType(), namesClasses));
				}
			}
		}
		boolean namesClasses = NestedTypes
			.namesClasses(annotations.findPolymorphicTypeInfo(config, bean.getClassInfo()));
		return new NestedTypes.Description(javaType, namesClasses, contents, properties);
	}

	private static void addSubtypes(@Nullable List<NamedType> subtypes, List<Type> contents) {
		if (subtypes != null) {
			subtypes.forEach((subtype) -> contents.add(subtype.getType()));
		}
	}

	@Override
	public byte[] comparable(Object value) {
		return this.comparing.writeValueAsBytes(value);
	}

	/**
	 * Refuses every class name that comes from the store, even if an annotation allows
	 * it.
	 */
	private static final class NoClassNames extends PolymorphicTypeValidator.Base {

		private static final long serialVersionUID = 1L;

		@Override
		public Validity validateBaseType(DatabindContext context, JavaType baseType) {
			return Validity.DENIED;
		}

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
