// Renders a chart as Helm does, and decodes each object as Kubernetes does. A field that the API does not know is an error.
//
//	chart FOLDER VALUES.json   prints the objects as a JSON list
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"os"
	"strings"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"
)

func main() {
	objects, err := render(os.Args[1], os.Args[2])
	if err != nil {
		log.Fatal(err)
	}
	if err := json.NewEncoder(os.Stdout).Encode(objects); err != nil {
		log.Fatal(err)
	}
}

func render(folder, valuesPath string) ([]map[string]any, error) {
	chart, err := loader.Load(folder)
	if err != nil {
		return nil, err
	}
	given, err := chartutil.ReadValuesFile(valuesPath)
	if err != nil {
		return nil, err
	}
	release := chartutil.ReleaseOptions{Name: "mp", Namespace: "default"}
	values, err := chartutil.ToRenderValues(chart, given, release, chartutil.DefaultCapabilities)
	if err != nil {
		return nil, err
	}
	files, err := engine.Render(chart, values)
	if err != nil {
		return nil, err
	}
	objects := []map[string]any{}
	for name, text := range files {
		for _, document := range strings.Split(text, "\n---\n") {
			if strings.TrimSpace(document) == "" {
				continue
			}
			object, err := read([]byte(document))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			objects = append(objects, object)
		}
	}
	return objects, nil
}

var strict = serializer.NewCodecFactory(scheme.Scheme, serializer.EnableStrict).UniversalDeserializer()

// read decodes an object. A kind that Kubernetes itself does not have is only parsed as YAML.
func read(document []byte) (map[string]any, error) {
	if _, _, err := strict.Decode(document, nil, nil); err != nil && !runtime.IsNotRegisteredError(err) {
		return nil, err
	}
	object := map[string]any{}
	err := yaml.UnmarshalStrict(document, &object)
	return object, err
}
