package io.idempotency.it.around;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.idempotency.it.WithMockMvc;
import io.idempotency.it.client.Answer;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.http.HttpMethod;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.test.web.servlet.MockMvc;

import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.request;

@SpringBootTest(classes = AroundApplication.class)
@WithMockMvc
class AroundOnMockMvcTests extends AroundContract {

	@Autowired
	MockMvc mvc;

	@Override
	Answer send(String method, String path) throws Exception {
		MockHttpServletResponse response = this.mvc
			.perform(request(HttpMethod.valueOf(method), path).header("Idempotency-Key", this.key))
			.andReturn()
			.getResponse();
		Map<String, List<String>> headers = new HashMap<>();
		response.getHeaderNames().forEach((name) -> headers.put(name, response.getHeaders(name)));
		return new Answer(response.getStatus(), headers, response.getContentAsByteArray());
	}

}
