package io.idempotency.autoconfigure.engine;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.idempotency.codec.json.Jackson2ResultCodec;
import io.idempotency.protocol.ResultCodec;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Declares the codec for Jackson 2, with the application's mapper if it has one. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(ObjectMapper.class)
@ConditionalOnMissingBean(ResultCodec.class)
class Jackson2CodecConfiguration {

	@Bean
	Jackson2ResultCodec idempotencyResultCodec(ObjectProvider<ObjectMapper> mapper) {
		ObjectMapper unique = mapper.getIfUnique();
		return (unique != null) ? new Jackson2ResultCodec(unique) : new Jackson2ResultCodec();
	}

}
